#pragma once

#include <atomic>

namespace tessera {

/// Gives free memory of the heap back to the system: after much that was small has been released.
void give_back_free_memory();

/// Memory that is set aside for when the machine has no more: what is small is then still to be
/// had, so that a statement can end with an error, and what it held be released. There are
/// destructors that allocate, nlohmann's for instance, and must not fail.
void set_reserve_aside() noexcept;
bool release_reserve() noexcept;  // false if there is none

namespace heap_detail {
extern constinit std::atomic<bool> is_exhausted;  // one for all, as in base/stop.h
}  // namespace heap_detail

/// Whether the reserve was needed, and is not set aside again, as the next statement does: what is
/// under way should end.
inline bool is_exhausted() { return heap_detail::is_exhausted.load(std::memory_order_relaxed); }

}  // namespace tessera
