#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace tessera::mpi {

using Clock = std::chrono::steady_clock;
using Microseconds = std::chrono::duration<double, std::micro>;

/// How long the thread sleeps when it found nothing to do. MPI moves large messages on only while
/// it is called, a few fragments each time: asked too seldom it wastes the link, asked too often it
/// takes the kernels' time. So while messages are under way, the pause is what a fragment takes at
/// the best rate seen; and when there are none, it grows with the time since the last one.
class Naps {
 public:
  void moved(std::size_t bytes, Clock::duration time) {
    if (static_cast<double>(bytes) < 4 * fragment) return;
    rate_ = std::max(rate_, static_cast<double>(bytes) / Microseconds(time).count());
  }
  void busy() {
    nap_ = Microseconds(20);
    idle_since_ = Clock::now();
  }
  Microseconds next(bool under_way) {
    const Microseconds idle = Clock::now() - idle_since_;
    const Microseconds longest =
        under_way ? std::clamp(Microseconds(fragment / rate_), Microseconds(50), Microseconds(1000))
                  : std::clamp(idle / 8, Microseconds(100), Microseconds(5000));
    nap_ = std::min(nap_ * 2, longest);
    return nap_;
  }

 private:
  static constexpr double fragment = 128 * 1024;
  double rate_ = fragment / 100;  // bytes in a microsecond, until better is known
  Microseconds nap_{20};
  Clock::time_point idle_since_ = Clock::now();
};

}  // namespace tessera::mpi
