#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

#include "tessera/error.h"

namespace tessera {

// How a stop is heard. Whoever begins a piece of work (a statement, a run, a helper's share of one)
// says with a StopScope which token the work answers to; loops that may be long look for it
// wherever they are, in a kernel or in the optimizer, and end with Interrupted. A thread that
// works for another opens the scope of that one's `heard_stop()`.
//
// The token is the thread's and not an argument because it concerns every loop below and the
// meaning of none: what a kernel computes is a function of its tiles, stopped or not.

namespace stop_detail {
/// Defined in one place and not inline: a program that hides its symbols, as a Python module does,
/// would have one of its own beside the library's.
extern constinit thread_local const std::stop_token* heard;
}  // namespace stop_detail

/// While it lives, the loops of this thread hear that token, and no other.
class StopScope {
 public:
  explicit StopScope(std::stop_token token)
      : token_(std::move(token)), before_(stop_detail::heard) {
    // Work that nobody can stop by itself is part of what it was begun by.
    if (token_.stop_possible()) stop_detail::heard = &token_;
  }
  ~StopScope() { stop_detail::heard = before_; }
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

 private:
  const std::stop_token token_;
  const std::stop_token* before_;
};

/// While it lives, this thread hears of no stop: for what is to be done whole, as a commit is.
class NoStop {
 public:
  NoStop() : before_(stop_detail::heard) { stop_detail::heard = nullptr; }
  ~NoStop() { stop_detail::heard = before_; }
  NoStop(const NoStop&) = delete;
  NoStop& operator=(const NoStop&) = delete;

 private:
  const std::stop_token* before_;
};

/// What this thread answers to, for the threads that it has work for it.
inline std::stop_token heard_stop() {
  return stop_detail::heard != nullptr ? *stop_detail::heard : std::stop_token{};
}

inline bool is_stopped() {
  return stop_detail::heard != nullptr && stop_detail::heard->stop_requested();
}

/// For loops that may be long: Interrupted if somebody has asked for a stop. `what` says, as in
/// "rows were sorted", what was under way.
inline void refuse_if_stopped(const std::stop_token& stop, const char* what) {
  if (stop.stop_requested()) throw Interrupted(std::string("stopped while ") + what);
}
inline void refuse_if_stopped(const char* what) {
  if (is_stopped()) throw Interrupted(std::string("stopped while ") + what);
}

/// Looks for a stop once in so many steps, for loops whose steps are too short to look at each. A
/// step is about a nanosecond's work, so that a stop is heard within milliseconds.
class StopPoll {
 public:
  static constexpr std::int64_t every = std::int64_t{1} << 20;

  explicit StopPoll(const char* what) : what_(what) {}

  void passed(std::int64_t steps) {
    left_ -= steps;
    if (left_ > 0) return;
    left_ = every;
    refuse_if_stopped(what_);
  }

 private:
  const char* what_;
  std::int64_t left_ = every;
};

/// Calls f(begin, end) for one piece of 0 to `count` after the other and looks for a stop between
/// them: for one long loop, which stays as tight as it is.
template <class F>
void in_pieces(std::int64_t count, const char* what, F&& f) {
  constexpr std::int64_t piece = std::int64_t{1} << 18;
  for (std::int64_t begin = 0; begin < count; begin += piece) {
    refuse_if_stopped(what);
    f(begin, begin + piece < count ? begin + piece : count);
  }
}

}  // namespace tessera
