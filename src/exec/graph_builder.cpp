#include "exec/graph_builder.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/memory_account.h"
#include "base/stop.h"
#include "exec/chain_room.h"
#include "exec/memory_limit.h"
#include "tra/tuple_operations.h"

namespace tessera::exec {
namespace {

using Types = std::vector<TileType>;

/// What tells apart the estimates of an operator that does several things.
enum : int { product_step, fold_step, finish_step };

/// What follows from unknown types is unknown; the message is seen by nobody.
const Types& known(const TypeTable& table, TypesId id) {
  TESSERA_REQUIRE(TypeError, id != unknown_types, "unknown types");
  return table[id];
}

void operator+=(Cost& sum, const Cost& cost) {
  sum.flops += cost.flops;
  sum.bytes += cost.bytes;
}

Types fold_types(const std::vector<KernelCall>& kernels, const Types& so_far, const Types& next,
                 Estimate& estimate) {
  Types result;
  for (std::size_t c = 0; c < so_far.size(); ++c) {
    estimate.cost += kernels[c].cost(Types{so_far[c], next[c]});
    result.push_back(fold_tiles(kernels[c], so_far[c], next[c]));
  }
  return result;
}

bool have_costs(const ia::Pipeline& stages) {
  for (const std::vector<Apply>& stage : stages)
    for (const Apply& apply : stage)
      if (apply.kernel && !apply.kernel->kernel().cost) return false;
  return true;
}

bool have_costs(const ia::Operator& op) {
  const ia::Join* join = ia::join_of(op);
  if (join != nullptr && !have_costs(join->projection)) return false;
  if (const auto* map = std::get_if<ia::Map>(&op))
    return std::all_of(map->branches.begin(), map->branches.end(),
                       [](const ia::Branch& branch) { return have_costs(branch.arrays); });
  if (const ia::Aggregate* aggregate = ia::aggregate_of(op))
    return have_costs(aggregate->finish) &&
           std::all_of(aggregate->kernels.begin(), aggregate->kernels.end(),
                       [](const KernelCall& call) { return call.kernel().cost != nullptr; });
  return true;
}

}  // namespace

int GraphBuilder::add_step(const ia::Plan& plan) {
  graph_.costs_known = graph_.costs_known && have_costs(operator_of(plan));
  graph_.steps.push_back(plan);
  return static_cast<int>(graph_.steps.size()) - 1;
}

std::int32_t GraphBuilder::cost_id(const Estimate& estimate) {
  const Cost& cost = estimate.cost;
  const auto [place, added] = costs_.try_emplace({cost.flops, cost.bytes, estimate.transient},
                                                 static_cast<std::int32_t>(graph_.costs.size()));
  if (added) {
    graph_.costs.push_back(cost);
    graph_.transients.push_back(
        static_cast<std::int64_t>(std::min(estimate.transient, most_counted)));
  }
  return place->second;
}

ValueId GraphBuilder::add(TaskKind kind, int op, int site, KeyId key,
                          std::span<const ValueId> inputs, const Estimate& estimate) {
  refuse_if_stopped("tasks were planned");
  constexpr std::size_t most = std::numeric_limits<std::int32_t>::max();
  TESSERA_REQUIRE(PlanError, graph_.task_inputs.size() + inputs.size() < most,
                  "{}: the plan has more than 2^31 tasks; use larger tiles",
                  describe_step(graph_.steps[op]));
  if (graph_.tasks.size() == graph_.tasks.capacity()) {
    constexpr std::int64_t bytes_a_task = 160;  // with its value, its readers and its state
    TESSERA_REQUIRE(OutOfMemory,
                    2 * std::ssize(graph_.tasks) * bytes_a_task <= machine_memory() / 2,
                    "{}: the plan has more than {} tasks, which need more memory than available; "
                    "use larger tiles, or compute less at once",
                    describe_step(graph_.steps[op]), graph_.tasks.size());
  }
  look_at_memory("the tasks of a plan");
  Task task;
  task.key = key;
  task.op = op;
  task.cost = cost_id(estimate);
  task.site = site;
  task.output = static_cast<ValueId>(graph_.values.size());
  task.first_input = static_cast<std::int32_t>(graph_.task_inputs.size());
  task.inputs = static_cast<std::int32_t>(inputs.size());
  task.kind = kind;
  graph_.task_inputs.insert(graph_.task_inputs.end(), inputs.begin(), inputs.end());
  graph_.values.push_back({site, estimate.types});
  graph_.tasks.push_back(task);
  return task.output;
}

ValueId GraphBuilder::give(int site, const op::Input& input, KeyId key,
                           const std::vector<Tile>& tiles) {
  Types types;
  for (const Tile& tile : tiles) types.push_back(tile.type());
  const auto value = static_cast<ValueId>(graph_.values.size());
  graph_.values.push_back({site, graph_.types.add(types)});
  graph_.given.push_back({value, &tiles, &input, key});
  return value;
}

ValueId GraphBuilder::give(int site, const op::Input& input, KeyId key, const Types& types) {
  const auto value = static_cast<ValueId>(graph_.values.size());
  graph_.values.push_back({site, graph_.types.add(types)});
  graph_.given.push_back({value, nullptr, &input, key});
  return value;
}

ValueId GraphBuilder::map(int op, int branch, int site, KeyId key, ValueId tuple) {
  const TypesId from = types_of(tuple);
  const Estimate estimate = estimates_.of(op, branch, from, unknown_types, [&](Estimate& taken) {
    const ia::Branch& what = std::get<ia::Map>(operator_of(graph_.steps[op])).branches[branch];
    Types types = known(graph_.types, from);
    if (what.cut)
      for (TileType& type : types)
        type = cut_piece(type, what.cut->dimension, what.cut->size, what.cut->piece);
    return through(std::move(types), what.arrays, taken);
  });
  const ValueId made = add(TaskKind::map, op, site, key, {tuple}, estimate);
  graph_.tasks.back().branch = branch;
  return made;
}

Estimate GraphBuilder::product_estimate(int op, TypesId left, TypesId right) {
  return estimates_.of(op, product_step, left, right, [&](Estimate& taken) {
    Types types = known(graph_.types, left);
    const Types& others = known(graph_.types, right);
    types.insert(types.end(), others.begin(), others.end());
    const ia::Join& join = *ia::join_of(operator_of(graph_.steps[op]));
    return through(std::move(types), join.projection, taken);
  });
}

ValueId GraphBuilder::product(int op, int site, KeyId key, ValueId left, ValueId right) {
  return add(TaskKind::product, op, site, key, {left, right},
             product_estimate(op, types_of(left), types_of(right)));
}

ValueId GraphBuilder::fold_product(int op, int site, KeyId key, ValueId accumulator, ValueId left,
                                   ValueId right) {
  const auto& both = std::get<ia::JoinAggregate>(operator_of(graph_.steps[op]));
  const TypesId so_far = types_of(accumulator);
  Estimate estimate = product_estimate(op, types_of(left), types_of(right));
  const bool in_place = estimate.types != unknown_types && estimate.types == so_far &&
                        both.adds_in_place(graph_.types[so_far].front());
  if (!in_place) {
    const TypesId next = estimate.types;
    const Estimate folded = estimates_.of(op, fold_step, so_far, next, [&](Estimate& taken) {
      return fold_types(both.aggregate.kernels, known(graph_.types, so_far),
                        known(graph_.types, next), taken);
    });
    estimate.types = folded.types;
    estimate.cost += folded.cost;
    estimate.transient = std::max(estimate.transient, folded.transient);
  }
  return add(in_place ? TaskKind::multiply_add : TaskKind::product_fold, op, site, key,
             {accumulator, left, right}, estimate);
}

ValueId GraphBuilder::fold(int op, int site, KeyId key, ValueId accumulator, ValueId tuple) {
  const TypesId so_far = types_of(accumulator), next = types_of(tuple);
  const Estimate estimate = estimates_.of(op, fold_step, so_far, next, [&](Estimate& taken) {
    const ia::Aggregate& aggregate = *ia::aggregate_of(operator_of(graph_.steps[op]));
    return fold_types(aggregate.kernels, known(graph_.types, so_far), known(graph_.types, next),
                      taken);
  });
  return add(TaskKind::fold, op, site, key, {accumulator, tuple}, estimate);
}

ValueId GraphBuilder::finish(int op, int site, KeyId key, ValueId group) {
  const TypesId types = types_of(group);
  const Estimate estimate =
      estimates_.of(op, finish_step, types, unknown_types, [&](Estimate& taken) {
        const ia::Aggregate& aggregate = *ia::aggregate_of(operator_of(graph_.steps[op]));
        return through(known(graph_.types, types), aggregate.finish, taken);
      });
  return add(TaskKind::finish, op, site, key, {group}, estimate);
}

ValueId GraphBuilder::concat(int op, int site, KeyId key, const std::vector<ValueId>& tuples) {
  const Estimate estimate = estimates_.once([&](Estimate& taken) {
    const auto& what = std::get<ia::Concat>(operator_of(graph_.steps[op]));
    const KernelCall join_arrays("concat", {{"axis", std::int64_t{what.dimension}}});
    Types result;
    for (std::size_t c = 0; c < known(graph_.types, types_of(tuples.front())).size(); ++c) {
      Types arrays;
      for (ValueId tuple : tuples) arrays.push_back(known(graph_.types, types_of(tuple))[c]);
      taken.cost += join_arrays.cost(arrays);
      result.push_back(join_arrays.infer(arrays).front());
    }
    return result;
  });
  return add(TaskKind::concat, op, site, key, tuples, estimate);
}

ValueId GraphBuilder::fill(int op, int site, KeyId key, const std::vector<TileType>& types) {
  Types zeros;
  for (const TileType& type : types) zeros.push_back(zero_type(type));
  return add(TaskKind::fill, op, site, key, {}, {graph_.types.add(zeros), {}});
}

ValueId GraphBuilder::transfer(int op, int to, KeyId key, ValueId tuple) {
  const Value& from = graph_.values[tuple];
  Estimate estimate{from.types, {}};
  if (from.types != unknown_types)
    for (const TileType& type : graph_.types[from.types])
      estimate.cost.bytes +=
          static_cast<double>(type.shape.elements()) * static_cast<double>(size_of(type.dtype));
  const int sender = from.site;
  const ValueId arrived = add(TaskKind::transfer, op, to, key, {tuple}, estimate);
  graph_.tasks.back().site = sender;
  return arrived;
}

}  // namespace tessera::exec
