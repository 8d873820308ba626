#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "shell/interrupt.h"

namespace tessera::shell {
namespace {

/// Whether the stop comes, sooner or later.
bool is_asked_to_stop(const Interrupt& interrupt) {
  for (int waited = 0; waited < 3000 && !interrupt.token().stop_requested(); ++waited)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return interrupt.token().stop_requested();
}

TEST(Interrupt, TheFirstAsksForAStopAndTheLastEndsTheProgram) {
  const auto program = [](int last, int times) {
    const Interrupt interrupt(last);
    for (int i = 0; i < times; ++i) (void)std::raise(SIGINT);
    std::_Exit(is_asked_to_stop(interrupt) ? 0 : 1);
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(program(2, 1), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(program(2, 2), ::testing::KilledBySignal(SIGINT), "");
  EXPECT_EXIT(program(3, 2), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(program(3, 3), ::testing::KilledBySignal(SIGINT), "");
}

TEST(Interrupt, WhatCtrlCDidBeforeItDoesAgain) {
  const auto before = std::signal(SIGINT, SIG_IGN);
  {
    const Interrupt interrupt(3);
    EXPECT_FALSE(interrupt.token().stop_requested());
    (void)std::raise(SIGINT);
    EXPECT_TRUE(is_asked_to_stop(interrupt));
  }
  EXPECT_EQ(std::signal(SIGINT, before), SIG_IGN);
  const Interrupt next(3);
  EXPECT_FALSE(next.token().stop_requested());
}

}  // namespace
}  // namespace tessera::shell
