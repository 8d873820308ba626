#include "shell/interrupt.h"

#include <atomic>
#include <chrono>
#include <csignal>

namespace tessera::shell {
namespace {

std::atomic<bool> asked = false;  // all that a handler of signals may touch

void ask(int signal) {
  asked = true;
  (void)std::signal(signal, SIG_DFL);
}

}  // namespace

Interrupt::Interrupt() {
  asked = false;
  (void)std::signal(SIGINT, ask);
  watcher_ = std::jthread([this](const std::stop_token& ended) {
    while (!ended.stop_requested()) {
      if (asked) stop_.request_stop();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
}

Interrupt::~Interrupt() { (void)std::signal(SIGINT, SIG_DFL); }

}  // namespace tessera::shell
