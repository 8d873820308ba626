#pragma once

#include <fmt/format.h>

#include <stop_token>

#include "tessera/error.h"

namespace tessera {

/// Interrupted, if somebody has asked for it: long work that is no run of tasks looks now and then.
inline void look_for_stop(const std::stop_token& stop, std::string_view work) {
  if (stop.stop_requested()) throw Interrupted(fmt::format("stopped while {}", work));
}

}  // namespace tessera
