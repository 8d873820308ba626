#include "exec/helpers.h"

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/task_arena.h>

#include <memory>
#include <optional>

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

namespace tessera::exec {
namespace {

/// What a caller did comes before what its helper does: so says oneTBB, but the sanitizer cannot
/// look into that library and must be told.
#if defined(__SANITIZE_THREAD__)
void sent(void* letter) { __tsan_release(letter); }
void opened(void* letter) { __tsan_acquire(letter); }
#else
void sent(void*) {}
void opened(void*) {}
#endif

/// A helper that the pool has not woken when the process ends never opens its letter. That is no
/// leak that could grow.
#if defined(__SANITIZE_ADDRESS__)
void may_stay_unopened(const void* letter) { __lsan_ignore_object(letter); }
#else
void may_stay_unopened(const void*) {}
#endif

/// Work on its way to a helper.
struct Letter {
  std::function<void()>* work;

  // What is read here was written inside oneTBB.
  __attribute__((noinline, no_sanitize("thread"))) std::function<void()>* open() const {
    return work;
  }
  void operator()() const {
    const std::unique_ptr<std::function<void()>> mine(open());
    opened(mine.get());
    (*mine)();
  }
};

}  // namespace

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

void Helpers::call(std::function<void()> work) {
  const Letter letter{new std::function<void()>(std::move(work))};
  may_stay_unopened(letter.work);
  sent(letter.work);
  arena_->arena.enqueue(letter);
}

int all_cores() { return tbb::info::default_concurrency(); }

}  // namespace tessera::exec
