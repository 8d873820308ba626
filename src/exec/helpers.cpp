#include "exec/helpers.h"

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/task_arena.h>

#include <optional>

namespace tessera::exec {

struct Helpers::Arena {
  explicit Arena(int threads) : arena(threads, 0) {
    // The pool has a thread a core unless asked for more. Of several such limits the least counts,
    // so that one is set only where the pool would be too small.
    constexpr auto parameter = tbb::global_control::max_allowed_parallelism;
    const auto needed = static_cast<std::size_t>(threads) + 1;
    if (needed > tbb::global_control::active_value(parameter)) limit.emplace(parameter, needed);
  }
  std::optional<tbb::global_control> limit;
  tbb::task_arena arena;
};

Helpers::Helpers(int threads) : arena_(threads > 0 ? std::make_unique<Arena>(threads) : nullptr) {}
Helpers::~Helpers() = default;

void Helpers::call(std::function<void()> work) { arena_->arena.enqueue(std::move(work)); }

int all_cores() { return tbb::info::default_concurrency(); }

}  // namespace tessera::exec
