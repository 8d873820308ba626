#include "shell/interrupt.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <iostream>

namespace tessera::shell {
namespace {

constexpr int signals[] = {SIGINT, SIGTERM, SIGHUP};

// All that a handler of signals may touch.
std::atomic<int> asked = 0;
std::atomic<int> most = 2;

void ask(int signal) {
  if (++asked + 1 >= most) (void)std::signal(signal, SIG_DFL);
}

}  // namespace

Interrupt::Interrupt(int last) {
  asked = 0;
  most = last;
  for (std::size_t i = 0; i < before_.size(); ++i) before_[i] = std::signal(signals[i], ask);
  watcher_ = std::jthread([this, last](const std::stop_token& ended) {
    bool told = false;
    while (!ended.stop_requested()) {
      if (asked > 0) stop_.request_stop();
      if (asked > 1 && last > 2 && !told) {
        std::cerr << "\nstopping as soon as the work under way allows; Ctrl-C once more ends the "
                     "program\n";
        told = true;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
}

Interrupt::~Interrupt() {
  for (std::size_t i = 0; i < before_.size(); ++i)
    (void)std::signal(signals[i], before_[i] == SIG_ERR ? SIG_DFL : before_[i]);
}

}  // namespace tessera::shell
