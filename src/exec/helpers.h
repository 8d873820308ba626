#pragma once

#include <functional>
#include <memory>

namespace tessera::exec {

/// Threads that help the one that runs a plan, from the pool that all runs share.
class Helpers {
 public:
  /// At most `threads` work at once, the caller not among them. 0: there are none.
  explicit Helpers(int threads);
  ~Helpers();
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;

  /// Has a helper do this some time soon. Whoever calls waits for the end of it in its own way.
  void call(std::function<void()> work);

 private:
  struct Arena;
  std::unique_ptr<Arena> arena_;
};

int all_cores();

}  // namespace tessera::exec
