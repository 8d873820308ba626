#pragma once

#include <stop_token>
#include <string>

#include "tessera/error.h"

namespace tessera {

/// For loops that may be long: Interrupted if somebody has asked for a stop. `what` says, as in
/// "rows were sorted", what was under way.
inline void refuse_if_stopped(const std::stop_token& stop, const char* what) {
  if (stop.stop_requested()) throw Interrupted(std::string("stopped while ") + what);
}

}  // namespace tessera
