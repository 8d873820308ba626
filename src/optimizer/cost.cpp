#include "optimizer/cost.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "ia/contents.h"
#include "ia/list_tuples.h"
#include "optimizer/folds.h"
#include "optimizer/traffic.h"
#include "tra/plan_node.h"

namespace tessera {
namespace optimizer {
namespace {

Cost& operator+=(Cost& sum, const Cost& more) {
  sum.flops += more.flops;
  sum.bytes += more.bytes;
  return sum;
}

std::vector<TileType> types_of(const RelationType& type) {
  std::vector<TileType> types;
  for (const Column& column : type.columns) types.push_back(column.type);
  return types;
}

Cost work_of(const ia::Pipeline& stages, std::vector<TileType> types) {
  Cost work;
  try {
    for (const std::vector<Apply>& stage : stages) {
      std::vector<TileType> outputs;
      for (const Apply& apply : stage) {
        std::vector<TileType> arguments;
        for (int column : apply.columns) arguments.push_back(types[column]);
        work += apply.cost(arguments);
        for (const TileType& output : apply.infer(arguments)) outputs.push_back(output);
      }
      types = std::move(outputs);
    }
  } catch (const TypeError&) {
    // Bounds of ragged relations need not fit each other though every tuple does: then what is
    // left of the pipeline counts for nothing.
  }
  return work;
}

}  // namespace

Cost work_of_tuple(const ia::Plan& plan) {
  const ia::Operator& op = ia::operator_of(plan);
  if (const auto* join = std::get_if<ia::Join>(&op)) {
    std::vector<TileType> types = types_of(join->left.type());
    for (const TileType& type : types_of(join->right.type())) types.push_back(type);
    return work_of(join->projection, types);
  }
  if (const auto* map = std::get_if<ia::Map>(&op)) {
    Cost work;
    for (const ia::Branch& branch : map->branches)
      work += work_of(branch.arrays, types_of(map->input.type()));
    return work;
  }
  if (const ia::Aggregate* aggregate = ia::aggregate_of(op)) {
    Cost work;
    for (std::size_t c = 0; c < aggregate->kernels.size(); ++c) {
      const TileType& type = aggregate->input.type().columns[c].type;
      work += aggregate->kernels[c].cost(std::vector<TileType>{type, type});
    }
    return work;
  }
  if (std::holds_alternative<ia::Concat>(op))
    return {0, 2 * ia::floats_of(plan.type().columns) * bytes_of_float(plan.type())};
  return {};
}

double seconds_of(const Cost& work, const Machine& machine) {
  return std::max(work.flops / machine.flops, work.bytes / machine.memory_bytes);
}

double seconds_of(const ia::Traffic& traffic, double bytes, int sites, const Machine& machine) {
  const double fabric = machine.link_bytes * sites / machine.fabric_share;
  return traffic.most_loaded() * bytes / machine.link_bytes + traffic.total * bytes / fabric;
}

double bytes_of_float(const RelationType& type) {
  double bytes = 0;
  for (const Column& column : type.columns)
    bytes += static_cast<double>(column.type.shape.elements()) *
             static_cast<double>(size_of(column.type.dtype));
  const double floats = ia::floats_of(type.columns);
  return floats > 0 ? bytes / floats : 8;
}

double published_move(double floats, const Placement& to) {
  return floats * (to.is_all() ? to.sites() : to.copies());
}

}  // namespace optimizer

using namespace optimizer;

namespace {

double floats_in(const ia::Plan& plan) {
  if (counts_by_kinds(plan.logical()))
    return ia::floats_of(plan.type().columns) * ia::estimated_tuples(plan.logical());
  const std::vector<double> floats = ia::contents_of(plan).floats;
  return std::accumulate(floats.begin(), floats.end(), 0.0);
}

/// What crosses in a move, from the plan below it and where it goes.
ia::Traffic crossing(const ia::Plan& input, const Placement& to, bool& exact) {
  const bool pending = !input.pending().empty();
  const ia::Aggregate* fold = ia::aggregate_of(ia::operator_of(input));
  const bool fresh = pending && fold != nullptr && fold->input.pending().empty();
  const bool by_kinds = !input.placement().is_scattered() &&
                        (fresh ? counts_by_kinds(input.logical(), fold->input.logical())
                               : counts_by_kinds(input.logical()));
  ia::Contents contents, folded;
  if (by_kinds && fresh) {
    SummandKinds kinds =
        kinds_of_summands(input, fold->input, fold->group_by, fold->input.placement(), to);
    contents = std::move(kinds.result);
    folded = std::move(kinds.input);
  } else if (by_kinds) {
    Period period(input.type().frontier);
    period.refine(to);
    period.refine(input.placement());
    contents = kinds_of_tuples(input, period);
  } else {
    contents = ia::contents_of(input);
    if (fresh) folded = ia::contents_of(fold->input);
  }
  exact = exact && contents.exact;
  const Holders from =
      fresh ? summand_holders(contents, folded, fold->group_by, fold->input.placement())
            : holders_of(contents, input.placement());
  return traffic(contents, from, input.placement(), pending, holders_of(contents, to),
                 input.sites());
}

Cost operator*(double times, const Cost& cost) { return {times * cost.flops, times * cost.bytes}; }

/// What an operator's kernels do, over all sites.
Cost work_on(const ia::Plan& plan, double tuples, const Cost& work, Folds& folds) {
  const ia::Aggregate* aggregate = ia::aggregate_of(ia::operator_of(plan));
  if (aggregate == nullptr) return tuples * work;
  const Folds::Counted counted = folds.of(plan, tuples);
  Cost all = counted.folds * work;
  all += counted.groups * work_of(aggregate->finish, types_of(aggregate->input.type()));
  return all;
}

double tuples_worked_on(const ia::Plan& plan, double& busiest) {
  // Joins and maps work for each tuple of their result, aggregations for each of their input.
  const ia::Aggregate* aggregate = ia::aggregate_of(ia::operator_of(plan));
  const ia::Plan& worked = aggregate != nullptr ? aggregate->input : plan;
  if (counts_by_kinds(worked.logical()) && !worked.placement().is_scattered()) {
    busiest = busiest_share(worked.logical().frontier(), worked.placement()) *
              tuples_at_a_key(worked.logical());
    return ia::estimated_tuples(worked.logical()) *
           (worked.pending().empty() ? worked.placement().copies() : 1);
  }
  const ia::Contents contents = ia::contents_of(worked);
  busiest = busiest_share(contents, worked.placement());
  return static_cast<double>(contents.keys.size()) * worked.placement().copies();
}

void add_work(const ia::Plan& plan, const Machine& machine, Folds& folds, OperatorCost& cost) {
  const Cost work = work_of_tuple(plan);
  if (work.flops == 0 && work.bytes == 0) return;
  double busiest = 0;
  const Cost all = work_on(plan, tuples_worked_on(plan, busiest), work, folds);
  cost.flops += all.flops;
  cost.bytes += all.bytes;
  cost.seconds += seconds_of({busiest * work.flops, busiest * work.bytes}, machine);
}

}  // namespace

PlanCost cost_of(const ia::Plan& plan, const Machine& machine) {
  return cost_of(std::vector<ia::Plan>{plan}, machine);
}

PlanCost cost_of(const std::vector<ia::Plan>& plans, const Machine& machine) {
  PlanCost result;
  Folds folds;
  for (const ia::Plan& node : ia::in_order(plans)) {
    const ia::Operator& op = ia::operator_of(node);
    OperatorCost cost;
    if (is_move(node)) {
      const ia::Plan input = ia::inputs_of(op).front();
      const ia::Traffic crossed = crossing(input, node.placement(), result.exact);
      cost.floats_moved = crossed.total;
      cost.most_loaded = crossed.most_loaded();
      cost.bytes = crossed.total * bytes_of_float(node.type());
      cost.seconds = seconds_of(crossed, bytes_of_float(node.type()), node.sites(), machine);
      // What lies right already is not shuffled.
      if (crossed.total > 0) cost.published = published_move(floats_in(input), node.placement());
    } else {
      if (const auto* both = std::get_if<ia::JoinAggregate>(&op))
        add_work(both->aggregate.input, machine, folds, cost);
      add_work(node, machine, folds, cost);
    }
    result.operators.push_back(cost);
    result.total.floats_moved += cost.floats_moved;
    result.total.most_loaded += cost.most_loaded;
    result.total.published += cost.published;
    result.total.flops += cost.flops;
    result.total.bytes += cost.bytes;
    result.total.seconds += cost.seconds;
  }
  return result;
}

}  // namespace tessera
