#include "shell/interrupt.h"

#include <semaphore.h>

#include <atomic>
#include <csignal>
#include <iostream>
#include <mutex>
#include <thread>

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

/// The thread that passes on what signals ask for, as a handler of them may not. There is one for
/// the whole program, which sleeps until the bell rings: to start one takes longer than a small
/// statement.
class SignalThread {
 public:
  static SignalThread& get() {
    static SignalThread thread;
    return thread;
  }
  ~SignalThread() {
    ends_ = true;
    bell.ring();
  }

  /// Whom it tells from now on; null: nobody.
  void tell(std::stop_source* stop, int last) {
    const std::lock_guard lock(mutex_);
    stop_ = stop;
    last_ = last;
    explained_ = false;
  }

 private:
  void watch() {
    for (bell.wait(); !ends_; bell.wait()) {
      const std::lock_guard lock(mutex_);
      if (stop_ == nullptr || asked == 0) continue;
      stop_->request_stop();
      if (asked > 1 && last_ > 2 && !explained_) {
        std::cerr << "\nstopping as soon as the work under way allows; Ctrl-C once more ends the "
                     "program\n";
        explained_ = true;
      }
    }
  }

  std::mutex mutex_;
  std::stop_source* stop_ = nullptr;
  int last_ = 2;
  bool explained_ = false;
  std::atomic<bool> ends_ = false;
  std::jthread thread_{[this] { watch(); }};
};

}  // namespace

Interrupt::Interrupt(int last) {
  asked = 0;
  most_signals = last;
  SignalThread::get().tell(&stop_, last);
  for (std::size_t i = 0; i < before_.size(); ++i) before_[i] = std::signal(signals[i], ask);
}

Interrupt::~Interrupt() {
  for (std::size_t i = 0; i < before_.size(); ++i)
    (void)std::signal(signals[i], before_[i] == SIG_ERR ? SIG_DFL : before_[i]);
  SignalThread::get().tell(nullptr, 2);
}

}  // namespace tessera::shell
