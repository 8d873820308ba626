#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/stop.h"
#include "interpreter.h"

namespace tessera::python {

/// Work in a thread of its own. The caller's thread waits for it in short naps, because only that
/// thread may look for signals, and there it also calls the caller's function with the news.
template <class Result, class News>
class Watched {
 public:
  explicit Watched(const py::object& tell) : tell_(tell) {}

  std::stop_token stop() const { return stop_.get_token(); }
  /// Whom the work tells its news; nobody, if the caller does not want to know.
  std::function<void(const News&)> listener() {
    if (tell_.is_none()) return {};
    return [this](const News& news) {
      std::unique_lock lock(mutex_);
      news_ = news;
      changed_.notify_all();
      // What the caller's function raises is known before the work goes on, and so before a commit.
      changed_.wait(lock, [this] { return !news_ || failed_; });
    };
  }

  Result result(const std::function<Result()>& work) {
    {
      const Unlocked unlocked;
      const StoppedAtExit at_exit(stop_);
      std::thread worker([&] { do_it(work); });
      wait();
      worker.join();
    }
    if (python_error_) raise();
    if (error_) std::rethrow_exception(error_);
    return std::move(*result_);
  }

 private:
  void do_it(const std::function<Result()>& work) {
    try {
      const StopScope stop_scope(stop_.get_token());
      result_ = work();
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
      // After an error there is nothing more to tell: the work only has to end.
      changed_.wait_for(lock, std::chrono::milliseconds(50),
                        [this] { return done_ || (news_ && !failed_); });
      if (done_ || failed_) continue;
      const std::optional<News> news = news_;
      lock.unlock();
      const bool ending = !listen(news);
      lock.lock();
      failed_ = ending || python_error_ != nullptr;
      if (news) news_.reset();
      changed_.notify_all();
    }
  }

  /// Passes the news on and looks for signals; false if there is no Python any more.
  bool listen(const std::optional<News>& news) {
    const Locked locked;
    if (!locked) return false;
    if (news) tell(*news);
    if (!python_error_ && PyErr_CheckSignals() != 0) stop_with(py::error_already_set());
    return true;
  }

  /// A signal that came too late to stop the work is raised all the same, and says so.
  [[noreturn]] void raise() {
    try {
      std::rethrow_exception(python_error_);
    } catch (py::error_already_set& error) {
      if (result_ && py::hasattr(error.value(), "add_note"))
        error.value().attr("add_note")("the interrupt came too late; the operation has completed");
      throw;
    }
  }

  void tell(const News& news) {
    try {
      tell_(news);
    } catch (const py::error_already_set& error) {
      stop_with(error);
    }
  }

  void stop_with(const py::error_already_set& error) {
    python_error_ = std::make_exception_ptr(error);
    stop_.request_stop();
  }

  const py::object& tell_;
  std::stop_source stop_;
  std::exception_ptr python_error_;  // of the caller's thread: a signal, or its function
  std::exception_ptr error_;
  std::optional<Result> result_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<News> news_;
  bool done_ = false, failed_ = false;
};

/// Work that Ctrl-C ends.
template <class Work>
auto watched(const Work& work) {
  using Result = std::invoke_result_t<const Work&>;
  const py::object nobody = py::none();
  return Watched<Result, Progress>(nobody).result(work);
}

}  // namespace tessera::python
