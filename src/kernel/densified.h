#pragma once

#include "tessera/kernel.h"

namespace tessera {

/// What the dense copies of sparse arguments take, where no implementation takes these as they are.
double densified_bytes(const KernelCall& call, Types types);

}  // namespace tessera
