#pragma once

#include <array>
#include <stop_token>

namespace tessera::shell {

/// While it lives, Ctrl-C asks for a stop, and so do signals to end, so that what is under way can
/// be taken back; the last of so many ends the program at once. There is one at a time.
class Interrupt {
 public:
  explicit Interrupt(int last = 2);
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  std::stop_token token() const { return stop_.get_token(); }

 private:
  std::array<void (*)(int), 3> before_;  // what the signals did, and do again
  std::stop_source stop_;
};

}  // namespace tessera::shell
