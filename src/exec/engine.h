#pragma once

#include <optional>

#include "exec/prepare.h"
#include "tessera/events.h"

namespace tessera::exec {

/// Runs task graphs: in this process alone, or in each process of a cluster for the sites that are
/// its own. Which one runs a plan, and which processes make a statement together, is said by what
/// is passed: RunOptions, and the Context that is made of them.
class Engine {
 public:
  virtual ~Engine() = default;

  /// Sites that logical plans are spread over.
  virtual int sites(const RunOptions& options) const { return options.sites; }
  /// The processes that run every plan together, and which of them this is.
  virtual int processes() const { return 1; }
  virtual int rank() const { return 0; }
  /// Those that share the cores and the memory of this machine.
  virtual int processes_here() const { return 1; }
  /// Whether this process runs the tasks of a site.
  bool has(int site) const { return site % processes() == rank(); }

  /// Runs the tasks of the sites that are here, and tells the observers. Results go to the sink, or
  /// are returned if there is none: the tuples of each plan at these sites, one copy of each.
  virtual std::vector<std::vector<Tuple>> run(Prepared run, const TupleSink& sink,
                                              std::vector<RunObserver*> observers) = 0;

  // What the first process decides on the next run is sent to the others. `mark`: the same in
  // all that run the same plans of the same relations.
  virtual void send_decisions(std::uint64_t mark, const std::string& decided) {
    (void)mark, (void)decided;
  }
  virtual std::string receive_decisions(std::uint64_t mark) {
    (void)mark;
    return {};
  }

  // Processes that run plans together count the same runs.
  virtual std::int64_t runs() { return 0; }  // that were begun here
  /// The next run has failed here before it was begun: it counts, and the others are told.
  virtual void fail_next_run(const std::string& why) { (void)why; }
  /// Of the last run since the last round, 0 if there was none: the same in all processes if they
  /// run the same plan.
  virtual std::int64_t mark_of_last_run() { return 0; }

  // Rounds, in which the processes talk between runs: every one of them takes part (Cluster).
  /// What everybody says reaches the first process, which gets it by rank; the others get nothing.
  virtual std::vector<std::string> to_first(const std::string& said) { return {said}; }
  /// What the first process says reaches all.
  virtual std::string from_first(const std::string& said) { return said; }

  /// Seconds without a sign of life after which another process is lost; none if there is no other.
  virtual std::optional<double> timeout() { return std::nullopt; }
  virtual void set_timeout(double seconds) { (void)seconds; }
};

}  // namespace tessera::exec
