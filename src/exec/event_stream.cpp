#include "exec/event_stream.h"

#include <algorithm>

#include "base/thread_number.h"

namespace tessera {

int ObservedRun::sites() const { return graph_.sites; }

std::string ObservedRun::operator_text(int op) const {
  return ia::describe(graph_.steps[static_cast<std::size_t>(op)]);
}

Key ObservedRun::key(std::int64_t key) const { return graph_.keys[key]; }

namespace exec {
namespace {

constexpr std::size_t lane_length = 64;  // events: few enough to stay in the nearest cache

/// Of the run that this thread works for, the innermost if one runs inside of another.
thread_local EventStream::Lane* own_lane = nullptr;

}  // namespace

EventStream::EventStream(const TaskGraph& graph, std::vector<RunObserver*> observers, double delay)
    : graph_(graph),
      observers_(std::move(observers)),
      delay_(static_cast<std::int64_t>(delay * 1e9)) {
  if (!is_heard()) return;
  makers_.assign(graph.values.size(), -1);
  for (std::size_t t = 0; t < graph.tasks.size(); ++t)
    makers_[static_cast<std::size_t>(graph.tasks[t].output)] = static_cast<TaskId>(t);
  results_.assign(graph.values.size(), 0);
  for (const TaskGraph::Output& output : graph.outputs)
    results_[static_cast<std::size_t>(output.value)] = 1;
}

EventStream::Lane::Lane(EventStream& stream)
    : stream_(stream), before_(own_lane), thread_(thread_number()) {
  if (stream.is_heard()) events_.reserve(lane_length);
  own_lane = this;
}

EventStream::Lane::~Lane() {
  own_lane = before_;
  hand_over();
}

void EventStream::Lane::hand_over() {
  if (events_.empty()) return;
  stream_.hand_over(events_);
  events_.clear();
}

bool EventStream::Lane::hand_over_if_due() {
  if (events_.empty()) return false;
  const bool due =
      events_.size() >= lane_length || events_.back().end - events_.front().begin >= stream_.delay_;
  if (due) hand_over();
  return due;
}

template <class Body>
void EventStream::keeping_errors(const Body& body) {
  const std::lock_guard lock(mutex_);
  if (error_ || ended_) return;
  try {
    for (RunObserver* observer : observers_) body(*observer);
  } catch (...) {
    error_ = std::current_exception();
    failed_ = true;
  }
}

void EventStream::begin() {
  if (!is_heard()) return;
  run_ = std::make_unique<const ObservedRun>(graph_, now());
  keeping_errors([&](RunObserver& observer) { observer.run_begins(*run_); });
}

void EventStream::tell(RunEvent& event) {
  Lane* const lane = own_lane;
  if (lane != nullptr && &lane->stream_ == this) {
    event.thread = lane->thread_;
    lane->events_.push_back(event);
  } else {
    event.thread = thread_number();
    hand_over({&event, 1});
  }
}

void EventStream::hand_over(std::span<const RunEvent> events) {
  keeping_errors([&](RunObserver& observer) { observer.see(*run_, events); });
}

/// Observers that did not fail hear of the end in any case.
void EventStream::end(const RunEnd& end) {
  if (!is_heard()) return;
  const std::lock_guard lock(mutex_);
  ended_ = true;
  for (RunObserver* observer : observers_) {
    try {
      observer->run_ends(*run_, {end.failed || error_, now(), end.held, end.peak});
    } catch (...) {
      if (!error_) error_ = std::current_exception();
      failed_ = true;
    }
  }
}

std::exception_ptr EventStream::error() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

}  // namespace exec
}  // namespace tessera
