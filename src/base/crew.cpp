#include "base/crew.h"

#include <utility>

#include "base/parallel.h"
#include "base/stop.h"

namespace tessera {
namespace {

// The thread's and not an argument, as it concerns every kernel and the result of none.
constinit thread_local Crew* current = nullptr;

}  // namespace

bool SharedWork::has_more() const {
  const std::lock_guard lock(mutex_);
  return next_ < count_;
}

bool SharedWork::do_one() {
  std::int64_t mine = 0;
  {
    const std::lock_guard lock(mutex_);
    if (next_ >= count_) return false;
    mine = next_++;
    ++open_;
  }
  std::exception_ptr error;
  try {
    part_(mine);
  } catch (...) {
    error = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  if (error) {
    count_ = next_;
    if (!error_) error_ = std::move(error);
  }
  if (--open_ == 0) ended_.notify_all();
  return true;
}

void SharedWork::wait() {
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [this] { return next_ >= count_ && open_ == 0; });
  if (error_) std::rethrow_exception(error_);
}

CrewScope::CrewScope(Crew* crew) : before_(std::exchange(current, crew)) {}
CrewScope::~CrewScope() { current = before_; }

bool has_crew() { return current != nullptr; }

void share_work(std::int64_t count, const SharedWork::Part& part) {
  // Who helps answers to the stop that this thread answers to.
  const SharedWork::Part heard = [&part, stop = heard_stop()](std::int64_t number) {
    const StopScope scope(stop);
    part(number);
  };
  if (current != nullptr) return current->share(count, heard);
  do_in_parallel(count, thread_count(0), heard);
}

}  // namespace tessera
