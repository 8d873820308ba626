#include "exec/prepare.h"

#include "base/bytes.h"
#include "base/check.h"
#include "exec/context.h"
#include "tra/plan_node.h"

namespace tessera::exec {
namespace {

/// Bytes that are read if all of it fits: each source once.
std::int64_t bytes_of_sources(const Prepared& run) {
  std::int64_t bytes = 0;
  for (const TaskGraph::Given& given : run.graph->given)
    if (run.mine[run.graph->values[given.value].site]) bytes += run.sizes.bytes[given.value];
  return bytes;
}

std::string order_text(const ChosenOrder& order) {
  if (order.box.empty()) return "depth first";
  return fmt::format("{} results at a time{}", fmt::join(order.box, " x "),
                     order.by_input ? ", input by input" : "");
}

}  // namespace

PassInfo tasks_pass() {
  return {"tasks", "a task for each tile that is computed or moved, and the order of all", false};
}

Prepared prepare(const std::vector<ia::Plan>& plans, const Context& context, bool keeps_results) {
  std::vector<Plan> logical;
  for (const ia::Plan& plan : plans) logical.push_back(plan.logical());
  verify_before_running(logical, context.options.holes);
  return prepare(std::make_shared<TaskGraph>(expand(plans)), context, keeps_results);
}

Prepared prepare(std::shared_ptr<TaskGraph> graph, const Context& context, bool keeps_results) {
  Prepared run{std::move(graph), {}, context.options, keeps_results};
  const Engine& engine = *context.engine;
  for (int site = 0; site < run.graph->sites; ++site) run.mine.push_back(engine.has(site));

  const std::int64_t limit = run.options.memory_limit;
  run.sizes = predicted_sizes(*run.graph);
  run.needed = least_limit(*run.graph, run.mine, run.sizes, keeps_results);
  const double most = most_bytes(*run.graph, run.mine, run.sizes, run.options.threads);
  run.all_fits = most <= static_cast<double>(limit - limit / 16);
  if (run.all_fits) {
    run.order.forecast = {static_cast<std::int64_t>(most), bytes_of_sources(run), 0};
    return run;
  }
  run.kept = std::min(limit / 16, std::max<std::int64_t>(0, limit - run.needed));
  const RunSetup under{run.mine, run.sizes, limit - run.kept, run.options.threads, keeps_results};
  // Every process must take the tasks in the same order, so that none waits for one that waits for
  // it: what they choose may depend on nothing that they do not share.
  run.order = engine.processes() == 1 ? choose_order(*run.graph, under)
                                      : ChosenOrder{exec::forecast(*run.graph, under)};
  return run;
}

void refuse_what_cannot_fit(const Prepared& run) {
  if (run.needed <= run.options.memory_limit) return;
  throw OutOfMemory(
      fmt::format("the run needs {} of memory, but the limit is {}: use smaller tiles, {}or raise "
                  "memory_limit to at least {} bytes",
                  bytes_text(run.needed), bytes_text(run.options.memory_limit),
                  run.keeps_results ? "store the result in a database instead of reading it, " : "",
                  run.needed));
}

MemoryForecast forecast_of(const Prepared& run) {
  const Forecast& made = run.order.forecast;
  return {run.options.memory_limit, run.needed, made.peak, made.read, made.written,
          order_text(run.order)};
}

std::vector<std::int64_t> expected_bytes(const Prepared& run) {
  std::vector<std::int64_t> bytes(run.graph->steps.size(), 0);
  for (const Task& task : run.graph->tasks)
    if (run.mine[task.site] && run.graph->makes_result(task))
      bytes[static_cast<std::size_t>(task.op)] += run.sizes.bytes[task.output];
  return bytes;
}

}  // namespace tessera::exec
