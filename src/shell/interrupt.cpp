#include "shell/interrupt.h"

#include <semaphore.h>

#include <atomic>
#include <csignal>
#include <iostream>

namespace tessera::shell {
namespace {

constexpr int signals[] = {SIGINT, SIGTERM, SIGHUP};

/// Wakes the thread that waits. One of the system's: a handler of signals may post it.
class Bell {
 public:
  Bell() { ::sem_init(&semaphore_, 0, 0); }
  void ring() { ::sem_post(&semaphore_); }
  void wait() {
    while (::sem_wait(&semaphore_) != 0) {  // a signal came in between
    }
  }

 private:
  sem_t semaphore_;
};

// All that a handler of signals may touch.
std::atomic<int> asked = 0;
std::atomic<int> most_signals = 2;
Bell bell;

void ask(int signal) {
  if (++asked + 1 >= most_signals) (void)std::signal(signal, SIG_DFL);
  bell.ring();
}

}  // namespace

Interrupt::Interrupt(int last) {
  asked = 0;
  most_signals = last;
  for (std::size_t i = 0; i < before_.size(); ++i) before_[i] = std::signal(signals[i], ask);
  watcher_ = std::jthread([this, last](const std::stop_token& ended) {
    bool told = false;
    for (; !ended.stop_requested(); bell.wait()) {
      if (asked > 0) stop_.request_stop();
      if (asked > 1 && last > 2 && !told) {
        std::cerr << "\nstopping as soon as the work under way allows; Ctrl-C once more ends the "
                     "program\n";
        told = true;
      }
    }
  });
}

Interrupt::~Interrupt() {
  for (std::size_t i = 0; i < before_.size(); ++i)
    (void)std::signal(signals[i], before_[i] == SIG_ERR ? SIG_DFL : before_[i]);
  watcher_.request_stop();
  bell.ring();
}

}  // namespace tessera::shell
