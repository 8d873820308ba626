#include "exec/results_to_come.h"

#include "tra/plan_node.h"

namespace tessera::exec {

std::vector<TupleSet<TileType>> results_to_come(const TaskGraph& graph,
                                                const std::vector<Plan>& plans, Holes holes) {
  std::vector<std::vector<BasicTuple<TileType>>> tuples(plans.size());
  for (const TaskGraph::Output& output : graph.outputs) {
    const TypesId types = graph.values[output.value].types;
    const Key key = graph.keys[output.key];
    std::vector<BasicTuple<TileType>>& of = tuples[static_cast<std::size_t>(output.result)];
    // Of several copies one counts. What has no type will fail with a better message.
    if (types != unknown_types && (of.empty() || of.back().key != key))
      of.push_back({key, graph.types[types]});
  }
  std::vector<TupleSet<TileType>> results;
  for (std::size_t i = 0; i < plans.size(); ++i)
    results.push_back(settle(plans[i], std::move(tuples[i]), holes));
  return results;
}

}  // namespace tessera::exec
