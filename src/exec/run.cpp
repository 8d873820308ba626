#include "tessera/run.h"

#include <cstdlib>

#include "base/bytes.h"
#include "base/check.h"
#include "exec/cluster.h"
#include "exec/local_transport.h"
#include "exec/memory_limit.h"
#include "exec/physical_plans.h"
#include "exec/scheduler.h"
#include "exec/task_order.h"
#include "tile/kept_memory.h"
#include "tra/plan_node.h"

namespace tessera {
namespace {

std::string temporary_folder(const RunOptions& options) {
  if (!options.temporary_folder.empty()) return options.temporary_folder;
  const char* said = std::getenv("TMPDIR");
  return said != nullptr && *said != '\0' ? said : "/var/tmp";
}

/// A run before it begins: its tasks in the order in which they are taken, who runs which, and what
/// it will need.
struct Prepared {
  std::unique_ptr<exec::TaskGraph> graph;  // which the scheduler refers to
  std::vector<bool> mine;                  // sites, by number
  RunOptions options;                      // with nothing left open
  bool keeps_results;                      // in memory until the end
  exec::ValueSizes sizes = {};
  std::int64_t needed = 0;  // the least limit that it can do with
  std::int64_t kept = 0;    // of the limit, for memory that was released and is kept for later
  exec::ChosenOrder order = {};
  bool all_fits = true;  // whatever the order: nothing needs to make room
};

/// Bytes that are read if all of it fits: each source once.
std::int64_t bytes_of_sources(const Prepared& run) {
  std::int64_t bytes = 0;
  for (const exec::TaskGraph::Given& given : run.graph->given)
    if (run.mine[run.graph->values[given.value].site]) bytes += run.sizes.bytes[given.value];
  return bytes;
}

Prepared prepare(const std::vector<ia::Plan>& plans, RunOptions options, bool keeps_results) {
  TESSERA_REQUIRE(PlanError, options.threads >= 0, "a run on {} threads", options.threads);
  TESSERA_REQUIRE(PlanError, options.memory_limit >= 0, "a run in {} bytes of memory",
                  options.memory_limit);
  TESSERA_REQUIRE(PlanError, !plans.empty(), "there is nothing to run");
  std::vector<Plan> logical;
  for (const ia::Plan& plan : plans) logical.push_back(plan.logical());
  verify_before_running(logical, options.holes);
  Prepared run{std::make_unique<exec::TaskGraph>(exec::expand(plans)), {}, options, keeps_results};
  const exec::Cluster* cluster = exec::cluster();
  const int here = cluster != nullptr ? cluster->local_size() : 1;
  for (int site = 0; site < run.graph->sites; ++site)
    run.mine.push_back(cluster == nullptr || cluster->owner(site) == cluster->rank());
  if (options.threads == 0) run.options.threads = std::max(1, exec::all_cores() / here);
  if (options.memory_limit == 0)
    run.options.memory_limit = std::max<std::int64_t>(1, exec::default_memory_limit() / here);
  run.options.temporary_folder = temporary_folder(options);

  const std::int64_t limit = run.options.memory_limit;
  run.sizes = exec::predicted_sizes(*run.graph);
  run.needed = exec::least_limit(*run.graph, run.mine, run.sizes, keeps_results);
  const double most = exec::most_bytes(*run.graph, run.mine, run.sizes, run.options.threads);
  run.all_fits = most <= static_cast<double>(limit - limit / 16);
  if (run.all_fits) {
    run.order.forecast = {static_cast<std::int64_t>(most), bytes_of_sources(run), 0};
    return run;
  }
  run.kept = std::min(limit / 16, std::max<std::int64_t>(0, limit - run.needed));
  const exec::Circumstances under{run.mine, run.sizes, limit - run.kept, run.options.threads,
                                  keeps_results};
  // Every process must take the tasks in the same order, so that none waits for one that waits for
  // it: what they choose may depend on nothing that they do not share.
  run.order = cluster == nullptr ? exec::choose_order(*run.graph, under)
                                 : exec::ChosenOrder{exec::forecast(*run.graph, under)};
  return run;
}

std::string order_text(const exec::ChosenOrder& order) {
  if (order.box.empty()) return "depth first";
  return fmt::format("{} results at a time{}", fmt::join(order.box, " x "),
                     order.by_input ? ", input by input" : "");
}

void refuse_what_cannot_fit(const Prepared& run) {
  if (run.needed <= run.options.memory_limit) return;
  throw OutOfMemory(fmt::format(
      "the run needs {} in memory at once, and the limit is {}: use smaller tiles, {}or allow at "
      "least {} bytes (memory_limit)",
      bytes_text(run.needed), bytes_text(run.options.memory_limit),
      run.keeps_results ? "store the result in a database rather than reading it, " : "",
      run.needed));
}

MemoryForecast forecast_of(const Prepared& run) {
  const exec::Forecast& made = run.order.forecast;
  return {run.options.memory_limit, run.needed, made.peak, made.read, made.written,
          order_text(run.order)};
}

/// The bytes that the results of each step are thought to take.
std::vector<std::int64_t> expected_bytes(const Prepared& run) {
  std::vector<std::int64_t> bytes(run.graph->steps.size(), 0);
  for (const exec::Task& task : run.graph->tasks)
    if (run.mine[task.site] && run.graph->makes_result(task))
      bytes[static_cast<std::size_t>(task.op)] += run.sizes.bytes[task.output];
  return bytes;
}

/// What a run leaves: who has which outputs.
struct Finished {
  std::unique_ptr<const exec::TaskGraph> graph;  // which the scheduler refers to
  std::unique_ptr<const RunOptions> options;     // so it does to these
  std::unique_ptr<exec::Scheduler> scheduler;
  std::vector<bool> mine;
};

Finished carry_out(Prepared run, const TupleSink& sink, RunReport* report) {
  refuse_what_cannot_fit(run);
  RunRecord record;
  std::vector<std::int64_t> expected;
  if (run.options.ended) {
    record.plans = run.graph->plans;
    record.forecast = forecast_of(run);
    expected = expected_bytes(run);
  }
  std::optional<KeepAtMost> kept;
  if (!run.all_fits) kept.emplace(static_cast<std::size_t>(run.kept));
  exec::Cluster* cluster = exec::cluster();
  std::unique_ptr<exec::Transport> transport;
  if (cluster != nullptr)
    transport = cluster->open_run(*run.graph);
  else
    transport = std::make_unique<exec::LocalTransport>(run.graph->sites);
  Finished done{std::move(run.graph), std::make_unique<const RunOptions>(std::move(run.options)),
                nullptr, std::move(run.mine)};
  std::unique_ptr<exec::Residence> residence;
  if (!run.all_fits)
    residence = std::make_unique<exec::Residence>(*done.graph, done.mine, std::move(run.sizes),
                                                  done.options->memory_limit - run.kept,
                                                  exec::Pace::of(done.options->threads));
  done.scheduler = std::make_unique<exec::Scheduler>(*done.graph, done.mine, *done.options,
                                                     *transport, sink, std::move(residence));
  done.scheduler->run();
  if (report != nullptr || done.options->ended) {
    RunReport& own = record.report;
    done.scheduler->report(own, expected);
    own.floats_moved = transport->floats_moved();
    if (const auto* local = dynamic_cast<const exec::LocalTransport*>(transport.get())) {
      own.sent = local->traffic().sent;
      own.received = local->traffic().received;
    }
    if (report != nullptr) *report = own;
    if (done.options->ended) done.options->ended(record);
  }
  return done;
}

/// On a cluster every process counts the same runs: one that fails before it is opened, be it for
/// want of memory here, is told to the others, who may wait for its tiles.
template <class Body>
auto counted(const Body& body) {
  exec::Cluster* cluster = exec::cluster();
  const std::int64_t before = cluster != nullptr ? cluster->runs() : 0;
  try {
    return body();
  } catch (const std::exception& error) {
    if (cluster != nullptr && cluster->runs() == before) cluster->fail_next_run(error.what());
    throw;
  }
}

/// The tuples of each result at the sites of this process, one copy of each.
std::vector<std::vector<Tuple>> results_of(const Finished& done, std::size_t plans) {
  std::vector<std::vector<Tuple>> results(plans);
  for (const exec::TaskGraph::Output& output : done.graph->outputs) {
    if (!done.mine[done.graph->values[output.value].site]) continue;
    std::vector<Tuple>& tuples = results[output.result];
    const Key key = done.graph->keys[output.key];
    if (tuples.empty() || tuples.back().key != key)
      tuples.push_back({key, done.scheduler->result(output.value)});
  }
  return results;
}

/// What results will be: keys and types.
std::vector<TupleSet<TileType>> results_to_come(const exec::TaskGraph& graph,
                                                const std::vector<Plan>& plans, Holes holes) {
  std::vector<std::vector<BasicTuple<TileType>>> tuples(plans.size());
  for (const exec::TaskGraph::Output& output : graph.outputs) {
    const exec::TypesId types = graph.values[output.value].types;
    const Key key = graph.keys[output.key];
    std::vector<BasicTuple<TileType>>& of = tuples[static_cast<std::size_t>(output.result)];
    // Of several copies one counts. What has no type will fail with a better message.
    if (types != exec::unknown_types && (of.empty() || of.back().key != key))
      of.push_back({key, graph.types[types]});
  }
  std::vector<TupleSet<TileType>> results;
  for (std::size_t i = 0; i < plans.size(); ++i)
    results.push_back(settle(plans[i], std::move(tuples[i]), holes));
  return results;
}

}  // namespace

std::vector<Relation> run(const std::vector<ia::Plan>& plans, const RunOptions& options,
                          RunReport* report) {
  std::vector<ia::Plan> gathered = plans;
  if (exec::cluster() != nullptr)
    for (ia::Plan& plan : gathered)
      if (!plan.placement().is_all()) plan = plan.broadcast();
  const Finished done =
      counted([&] { return carry_out(prepare(gathered, options, true), {}, report); });
  std::vector<std::vector<Tuple>> tuples = results_of(done, plans.size());
  std::vector<Relation> results;
  for (std::size_t i = 0; i < plans.size(); ++i)
    results.push_back(settle(plans[i].logical(), std::move(tuples[i]), options.holes));
  return results;
}

std::vector<LocalPart> run_in_place(const std::vector<ia::Plan>& plans, const RunOptions& options,
                                    RunReport* report) {
  const Finished done =
      counted([&] { return carry_out(prepare(plans, options, true), {}, report); });
  std::vector<std::vector<Tuple>> tuples = results_of(done, plans.size());
  std::vector<LocalPart> parts;
  for (std::size_t i = 0; i < plans.size(); ++i)
    parts.push_back({plans[i].type(), plans[i].placement(), std::move(tuples[i])});
  return parts;
}

std::vector<Relation> run(const std::vector<Plan>& plans, const RunOptions& options,
                          RunReport* report) {
  return counted([&] {
    verify_before_running(plans, options.holes);
    return run(exec::physical_plans(plans, options), options, report);
  });
}

Relation run(const ia::Plan& plan, const RunOptions& options, RunReport* report) {
  return run(std::vector<ia::Plan>{plan}, options, report).front();
}

Relation run(const Plan& plan, const RunOptions& options, RunReport* report) {
  return run(std::vector<Plan>{plan}, options, report).front();
}

std::vector<TupleSet<TileType>> run_into(const std::vector<Plan>& plans, const TupleSink& sink,
                                         const RunOptions& options, RunReport* report) {
  return counted([&] {
    verify_before_running(plans, options.holes);
    Prepared run = prepare(exec::physical_plans(plans, options), options, false);
    std::vector<TupleSet<TileType>> results = results_to_come(*run.graph, plans, options.holes);
    (void)carry_out(std::move(run), sink, report);
    return results;
  });
}

MemoryForecast forecast(const Plan& plan, const RunOptions& options, Results results) {
  const Prepared run =
      prepare(exec::physical_plans({plan}, options), options, results == Results::kept);
  return forecast_of(run);
}

std::string MemoryForecast::to_string() const {
  return fmt::format("memory: {} at most of {}, {} needed; {} read, {} spilled; {}",
                     bytes_text(peak), bytes_text(limit), bytes_text(needed), bytes_text(read),
                     bytes_text(spilled), order);
}

ClusterInfo cluster_info() {
  const exec::Cluster* cluster = exec::cluster();
  return cluster != nullptr ? ClusterInfo{cluster->rank(), cluster->size()} : ClusterInfo{};
}

Relation Plan::run(const RunOptions& options) const { return tessera::run(*this, options); }

Relation Plan::run(Holes holes) const {
  RunOptions options;
  options.holes = holes;
  return tessera::run(*this, options);
}

}  // namespace tessera
