#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>

namespace tessera {

// Work of one task in parts, which several threads may do. What the parts are follows from the
// work alone, never from who is free to help: so the result is the same whoever does them.

/// Parts of work, of which each is begun once, by whoever comes first.
class SharedWork {
 public:
  using Part = std::function<void(std::int64_t)>;

  /// `part` is called with 0 to `count` - 1, by several threads at once.
  SharedWork(std::int64_t count, const Part& part) : count_(count), part_(part) {}

  bool has_more() const;
  /// Does one part. No: all were begun. An exception is kept for who waits, and nothing more is
  /// begun.
  bool do_one();
  /// Returns when all that was begun has ended. The first exception is thrown again here.
  void wait();

 private:
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  std::int64_t next_ = 0;
  std::int64_t count_;  // to be begun
  std::int64_t open_ = 0;
  std::exception_ptr error_;
  const Part& part_;  // of who waits: not looked at when all were begun
};

/// Threads that may help with a task.
class Crew {
 public:
  virtual ~Crew() = default;
  /// Has all parts done, by the caller and whoever is free.
  virtual void share(std::int64_t count, const SharedWork::Part& part) = 0;
};

/// While it lives, what this thread shares is shared with that crew.
class CrewScope {
 public:
  explicit CrewScope(Crew* crew);
  ~CrewScope();
  CrewScope(const CrewScope&) = delete;
  CrewScope& operator=(const CrewScope&) = delete;

 private:
  Crew* before_;
};

bool has_crew();  // of this thread

/// Has all parts done by this thread and its crew; without one, by a thread a core.
void share_work(std::int64_t count, const SharedWork::Part& part);

}  // namespace tessera
