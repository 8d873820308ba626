#pragma once

#include <stop_token>

#include "bindings.h"

// The interpreter's lock, which threads leave to others while they work, and take to call Python.
//
// When the interpreter ends, a thread that takes the lock is ended by it, in the middle of whatever
// C++ is below. So none does: as soon as the program ends, all that runs is asked to stop, a thread
// that comes back from its work stays where it is, and one of ours is told that nobody is there
// whom it could call.

namespace tessera::python {

/// While it lives, other threads may run Python.
class Unlocked {
 public:
  Unlocked();
  ~Unlocked();
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  PyThreadState* state_;
};

/// While it lives, this thread may run Python, unless it is false: the program is ending.
class Locked {
 public:
  Locked();
  ~Locked();
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

  explicit operator bool() const { return holds_; }
  /// Before Python is called: Interrupted if the program is ending. A thread that Python itself has
  /// started does not return then.
  void require() const;

 private:
  bool holds_ = false;
  bool counted_ = false;  // among those that the end of the program waits for
  bool taken_ = false;    // here, and not by a caller
  PyGILState_STATE state_ = {};
};

/// While it lives, the end of the program asks for this stop.
class StoppedAtExit {
 public:
  explicit StoppedAtExit(std::stop_source& stop);
  ~StoppedAtExit();
  StoppedAtExit(const StoppedAtExit&) = delete;
  StoppedAtExit& operator=(const StoppedAtExit&) = delete;

 private:
  std::stop_source& stop_;
};

/// Has the interpreter tell us when it ends.
void watch_interpreter();

}  // namespace tessera::python
