#include "base/heap.h"

#include <malloc.h>

namespace tessera {

void give_back_free_memory() { (void)::malloc_trim(0); }

}  // namespace tessera
