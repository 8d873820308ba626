#include "optimizer/cost.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "ia/contents.h"
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
        work += apply.kernel.cost(arguments);
        for (const TileType& output : apply.kernel.infer(arguments)) outputs.push_back(output);
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
  if (const auto* aggregate = std::get_if<ia::Aggregate>(&op)) {
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

/// Where the tuples of each node lie, spelled out as they are asked for.
class Census {
 public:
  const ia::Contents& contents(const ia::Plan& plan) {
    auto [found, added] = contents_.try_emplace(&plan.node());
    if (added) found->second = ia::contents_of(plan);
    return found->second;
  }
  const Holders& holders(const ia::Plan& plan) {
    auto [found, added] = holders_.try_emplace(&plan.node());
    if (added) found->second = find(plan);
    return found->second;
  }

 private:
  Holders find(const ia::Plan& plan) {
    const auto* aggregate = std::get_if<ia::Aggregate>(&ia::operator_of(plan));
    if (aggregate == nullptr || plan.pending().empty() || !aggregate->input.pending().empty())
      return holders_of(contents(plan), plan.placement());
    return summand_holders(contents(plan), contents(aggregate->input), aggregate->group_by,
                           aggregate->input.placement());
  }
  std::unordered_map<const ia::Plan::Node*, ia::Contents> contents_;
  std::unordered_map<const ia::Plan::Node*, Holders> holders_;
};

double tuples_worked_on(const ia::Plan& plan, Census& census, double& busiest) {
  // Joins and maps work for each tuple of their result, aggregations for each of their input.
  const auto* aggregate = std::get_if<ia::Aggregate>(&ia::operator_of(plan));
  const ia::Plan& worked = aggregate != nullptr ? aggregate->input : plan;
  const tessera::Plan::Node& logical = worked.logical().node();
  const bool box = logical.uniform && logical.type.presence == Presence::continuous &&
                   !worked.placement().is_scattered();
  if (box) {
    busiest = busiest_share(logical.type.frontier, worked.placement());
    return static_cast<double>(count_below(logical.type.frontier)) *
           (worked.pending().empty() ? worked.placement().copies() : 1);
  }
  const ia::Contents& contents = census.contents(worked);
  busiest = busiest_share(contents, worked.placement());
  return static_cast<double>(contents.keys.size()) * worked.placement().copies();
}

}  // namespace

PlanCost cost_of(const ia::Plan& plan, const Machine& machine) {
  PlanCost result;
  Census census;
  for (const ia::Plan& node : ia::in_order(plan)) {
    const ia::Operator& op = ia::operator_of(node);
    OperatorCost cost;
    const bool move =
        std::holds_alternative<ia::Broadcast>(op) || std::holds_alternative<ia::Shuffle>(op);
    if (move) {
      const ia::Plan input = ia::inputs_of(op).front();
      const ia::Contents& contents = census.contents(input);
      result.exact = result.exact && contents.exact;
      const ia::Traffic crossing =
          traffic(contents, census.holders(input), input.placement(), !input.pending().empty(),
                  holders_of(contents, node.placement()), node.sites());
      cost.floats_moved = crossing.total;
      cost.most_loaded = crossing.most_loaded();
      cost.seconds = seconds_of(crossing, bytes_of_float(node.type()), node.sites(), machine);
      cost.published = published_move(
          std::accumulate(contents.floats.begin(), contents.floats.end(), 0.0), node.placement());
    } else {
      const Cost work = work_of_tuple(node);
      if (work.flops > 0 || work.bytes > 0) {
        double busiest = 0;
        cost.flops = tuples_worked_on(node, census, busiest) * work.flops;
        cost.seconds = seconds_of({busiest * work.flops, busiest * work.bytes}, machine);
      }
    }
    result.operators.push_back(cost);
    result.total.floats_moved += cost.floats_moved;
    result.total.most_loaded += cost.most_loaded;
    result.total.published += cost.published;
    result.total.flops += cost.flops;
    result.total.seconds += cost.seconds;
  }
  return result;
}

}  // namespace tessera
