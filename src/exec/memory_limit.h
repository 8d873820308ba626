#pragma once

#include <cstdint>

namespace tessera::exec {

/// What this machine has, or the group of processes that this one belongs to may use.
std::int64_t machine_memory();

/// What a run may hold when nobody says: what the environment's TESSERA_MEMORY_LIMIT says, or else
/// 80% of what there is.
std::int64_t default_memory_limit();

}  // namespace tessera::exec
