#include "exec/run_tasks.h"

#include "exec/progress_reporter.h"
#include "exec/scheduler.h"
#include "tile/kept_memory.h"

namespace tessera::exec {
namespace {

/// The tuples of each result at the sites of this process, one copy of each.
std::vector<std::vector<Tuple>> results_of(const TaskGraph& graph, const std::vector<bool>& mine,
                                           const Scheduler& scheduler) {
  std::vector<std::vector<Tuple>> results(graph.plans.size());
  for (const TaskGraph::Output& output : graph.outputs) {
    if (!mine[graph.values[output.value].site]) continue;
    std::vector<Tuple>& tuples = results[output.result];
    const Key key = graph.keys[output.key];
    if (tuples.empty() || tuples.back().key != key)
      tuples.push_back({key, scheduler.result(output.value)});
  }
  return results;
}

}  // namespace

std::vector<std::vector<Tuple>> run_tasks(Prepared run, Transport& transport, const TupleSink& sink,
                                          std::vector<RunObserver*> observers,
                                          std::vector<Accelerator*> accelerators) {
  const TaskGraph& graph = *run.graph;
  const RunOptions& options = run.options;
  std::optional<KeepAtMost> kept;
  std::unique_ptr<Residence> residence;
  if (!run.all_fits) {
    kept.emplace(static_cast<std::size_t>(run.kept));
    residence = std::make_unique<Residence>(graph, run.mine, std::move(run.sizes),
                                            options.memory_limit - run.kept,
                                            AdmissionLimits::of(options.threads));
  }
  std::optional<ProgressReporter> progress;
  double delay = 0.01;
  if (options.progress) {
    observers.push_back(&progress.emplace(graph, run.mine, options));
    delay = std::min(delay, options.progress_seconds);
  }
  EventStream events(graph, std::move(observers), delay);
  std::function<void()> report_progress;
  if (progress) report_progress = [&] { progress->report_if_due(events.run()); };
  Scheduler scheduler(graph, run.mine, options, transport, sink, std::move(residence), events,
                      std::move(report_progress), std::move(accelerators));
  scheduler.run();
  return sink ? std::vector<std::vector<Tuple>>{} : results_of(graph, run.mine, scheduler);
}

}  // namespace tessera::exec
