#include "base/stop.h"

namespace tessera::stop_detail {

constinit thread_local const std::stop_token* heard = nullptr;

}  // namespace tessera::stop_detail
