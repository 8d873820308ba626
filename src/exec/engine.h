#pragma once

#include "exec/prepare.h"
#include "tessera/events.h"

namespace tessera::exec {

/// Runs task graphs: in this process alone, or in each process of a cluster for the sites that are
/// its own. Which one runs a plan is said by the Context that is passed.
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

  // What the first process decides of the next run, the others hear from it. `mark`: the same in
  // all that run the same plans of the same relations.
  virtual void tell_decisions(std::uint64_t mark, const std::string& decided) {
    (void)mark, (void)decided;
  }
  virtual std::string hear_decisions(std::uint64_t mark) {
    (void)mark;
    return {};
  }

  // Processes that run plans together count the same runs.
  virtual std::int64_t runs() { return 0; }  // that were begun here
  /// The next run has failed here before it was begun: it counts, and the others are told.
  virtual void fail_next_run(const std::string& why) { (void)why; }
};

}  // namespace tessera::exec
