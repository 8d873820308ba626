#pragma once

#include <set>
#include <string>
#include <unordered_map>

#include "exec/task_graph.h"
#include "tessera/events.h"

namespace tessera::exec {

/// Writes the events of runs as JSON objects of the Trace Event Format. A site is what the format
/// calls a process, and a thread is a thread.
class TraceText {
 public:
  /// `rank`: of this process, or -1 if it is alone.
  explicit TraceText(int rank) : rank_(rank) {}

  void run_begins(const ObservedRun& run) { names_[&run]; }
  void run_ends(const ObservedRun& run) { names_.erase(&run); }

  /// Adds an event, whose times are counted from `begin`, and what else is to be said with it.
  void add(const ObservedRun& run, const RunEvent& event, std::int64_t begin);
  /// Adds how much memory was held, if that was not told just now.
  void add_memory(std::int64_t held, std::int64_t time);

  /// All that was added since this was called last.
  std::string take() { return std::exchange(text_, {}); }
  std::size_t size() const { return text_.size(); }

 private:
  void name_tracks(const RunEvent& event);
  const std::string& name_of(const ObservedRun& run, int op);
  void add_object(const std::string& object);

  const int rank_;
  std::string text_;
  std::set<int> sites_;                      // that have their name
  std::set<std::pair<int, int>> threads_;    // by site
  std::int64_t held_ = 0, memory_told_ = 0;  // as told last, and when
  /// Of operators, by the run.
  std::unordered_map<const ObservedRun*, std::unordered_map<int, std::string>> names_;
};

}  // namespace tessera::exec
