#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "bindings.h"

namespace tessera::python {
namespace {

/// A run in a thread of its own. The caller's thread waits for it in short naps, because only that
/// thread may look for signals, and there it also calls the caller's function.
class Run {
 public:
  Run(const Plan& plan, RunOptions options, const py::object& tell)
      : plan_(plan), options_(std::move(options)), tell_(tell) {
    options_.stop = stop_.get_token();
    if (!tell_.is_none())
      options_.progress = [this](const Progress& progress) {
        const std::lock_guard lock(mutex_);
        news_ = progress;
        changed_.notify_all();
      };
  }

  Relation result() {
    {
      const py::gil_scoped_release unlocked;
      std::thread worker([this] { work(); });
      wait();
      worker.join();
    }
    if (!python_error_ && news_) tell(*news_);
    if (python_error_) std::rethrow_exception(python_error_);
    if (error_) std::rethrow_exception(error_);
    return std::move(*result_);
  }

 private:
  void work() {
    try {
      result_ = plan_.run(options_);
    } catch (...) {
      error_ = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    done_ = true;
    changed_.notify_all();
  }

  void wait() {
    std::unique_lock lock(mutex_);
    while (!done_) {
      // After an error there is nothing more to tell: the run only has to end.
      changed_.wait_for(lock, std::chrono::milliseconds(50),
                        [this] { return done_ || (news_ && !python_error_); });
      if (done_ || python_error_) continue;
      const std::optional<Progress> news = std::exchange(news_, std::nullopt);
      lock.unlock();
      {
        const py::gil_scoped_acquire locked;
        if (news) tell(*news);
        if (!python_error_ && PyErr_CheckSignals() != 0) stop_with(py::error_already_set());
      }
      lock.lock();
    }
  }

  void tell(const Progress& progress) {
    try {
      tell_(progress);
    } catch (const py::error_already_set& error) {
      stop_with(error);
    }
  }

  void stop_with(const py::error_already_set& error) {
    python_error_ = std::make_exception_ptr(error);
    stop_.request_stop();
  }

  const Plan& plan_;
  RunOptions options_;
  const py::object& tell_;
  std::stop_source stop_;
  std::exception_ptr python_error_;  // of the caller's thread: a signal, or its function
  std::exception_ptr error_;
  std::optional<Relation> result_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Progress> news_;
  bool done_ = false;
};

}  // namespace

Relation run_plan(const Plan& plan, bool allow_holes, int sites, int threads,
                  const py::object& progress) {
  RunOptions options;
  options.holes = allow_holes ? Holes::allowed : Holes::refused;
  options.sites = sites;
  options.threads = threads;
  return Run(plan, std::move(options), progress).result();
}

void bind_running(py::module_& module) {
  py::class_<Progress>(module, "Progress", "How far a run has come.")
      .def_readonly("tasks_done", &Progress::tasks_done)
      .def_readonly("tasks", &Progress::tasks)
      .def_readonly("floats_moved", &Progress::floats_moved)
      .def_readonly("flops_done", &Progress::flops_done)
      .def_readonly("flops", &Progress::flops)
      .def_readonly("bytes_live", &Progress::bytes_live)
      .def_readonly("seconds", &Progress::seconds)
      .def_readonly("seconds_left", &Progress::seconds_left);
}

}  // namespace tessera::python
