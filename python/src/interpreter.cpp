#include "interpreter.h"

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

namespace tessera::python {
namespace {

/// Who is where. There is one interpreter in a process, and its end concerns all threads.
struct Threads {
  std::mutex mutex;
  std::condition_variable changed;
  int working = 0;   // without the lock
  int stranded = 0;  // of them, those that stay until the process is gone
  int calling = 0;   // threads of ours that run Python, or are about to
  bool ending = false;
  std::thread::id last;  // who ends the interpreter, and may do as before
  std::set<std::stop_source*> stops;

  bool is_over_for_me() const { return ending && std::this_thread::get_id() != last; }
};

Threads& threads() {
  static auto* all = new Threads;  // never destroyed: threads may outlive static destructors
  return *all;
}

[[noreturn]] void strand(std::unique_lock<std::mutex>& lock) {
  ++threads().stranded;
  threads().changed.notify_all();
  lock.unlock();
  for (;;) (void)::pause();
}

/// Called by the interpreter before it ends, with its lock.
void end() {
  // What cannot be stopped sooner is left behind: a call of a library may take long.
  constexpr auto patience = std::chrono::seconds(20);
  Threads& all = threads();
  {
    const std::lock_guard lock(all.mutex);
    all.ending = true;
    all.last = std::this_thread::get_id();
  }
  const py::gil_scoped_release others_may_finish;
  std::unique_lock lock(all.mutex);
  for (std::stop_source* stop : all.stops) stop->request_stop();
  (void)all.changed.wait_for(lock, patience,
                             [&] { return all.working == all.stranded && all.calling == 0; });
}

/// The threads of the parent are not there in a child.
void forget() {
  Threads& all = threads();
  new (&all) Threads;
}

}  // namespace

Unlocked::Unlocked() {
  Threads& all = threads();
  std::unique_lock lock(all.mutex);
  ++all.working;
  const bool over = all.is_over_for_me();
  lock.unlock();
  state_ = PyEval_SaveThread();
  if (!over) return;
  lock.lock();
  strand(lock);
}

Unlocked::~Unlocked() {
  Threads& all = threads();
  std::unique_lock lock(all.mutex);
  if (all.is_over_for_me()) strand(lock);
  ++all.calling;
  lock.unlock();
  PyEval_RestoreThread(state_);
  lock.lock();
  --all.calling;
  --all.working;
  all.changed.notify_all();
}

Locked::Locked() {
  if (Py_IsInitialized() == 0) return;
  const bool held = PyGILState_Check() != 0;  // by a caller in Python
  Threads& all = threads();
  {
    const std::lock_guard lock(all.mutex);
    // Who has the lock can let go of an object, but must not run what may hand the lock on.
    holds_ = held || !all.is_over_for_me();
    counted_ = !all.is_over_for_me();
    if (counted_) ++all.calling;
  }
  taken_ = counted_ && !held;
  if (taken_) state_ = PyGILState_Ensure();
}

Locked::~Locked() {
  if (!counted_) return;
  if (taken_) PyGILState_Release(state_);
  Threads& all = threads();
  const std::lock_guard lock(all.mutex);
  --all.calling;
  all.changed.notify_all();
}

void Locked::require() const {
  if (!holds_) throw Interrupted("the program is ending");
  if (counted_) return;
  // A thread of Python, which has the lock for the last time: it stays here, as others do.
  (void)PyEval_SaveThread();
  Threads& all = threads();
  std::unique_lock lock(all.mutex);
  ++all.working;
  strand(lock);
}

StoppedAtExit::StoppedAtExit(std::stop_source& stop) : stop_(stop) {
  Threads& all = threads();
  const std::lock_guard lock(all.mutex);
  all.stops.insert(&stop);
  if (all.is_over_for_me()) stop.request_stop();
}

StoppedAtExit::~StoppedAtExit() {
  Threads& all = threads();
  const std::lock_guard lock(all.mutex);
  all.stops.erase(&stop_);
}

void watch_interpreter() {
  py::module_::import("atexit").attr("register")(py::cpp_function(&end));
  py::module_::import("os").attr("register_at_fork")(py::arg("after_in_child") =
                                                         py::cpp_function(&forget));
}

}  // namespace tessera::python
