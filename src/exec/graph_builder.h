#pragma once

#include <initializer_list>
#include <map>
#include <tuple>

#include "exec/task_graph.h"

namespace tessera::exec {

/// Adds tasks to a graph, each with the types of what it makes and its cost. Methods return the
/// value that the new task makes.
class GraphBuilder {
 public:
  explicit GraphBuilder(int sites) { graph_.sites = sites; }

  int add_step(const ia::Plan& plan);
  ValueId give(int site, const op::Input& input, KeyId key, const std::vector<Tile>& tiles);
  /// What an input's source makes.
  ValueId give(int site, const op::Input& input, KeyId key, const std::vector<TileType>& types);

  ValueId map(int op, int branch, int site, KeyId key, ValueId tuple);
  ValueId product(int op, int site, KeyId key, ValueId left, ValueId right);
  /// The product of two tuples, folded into an accumulator.
  ValueId fold_product(int op, int site, KeyId key, ValueId accumulator, ValueId left,
                       ValueId right);
  ValueId fold(int op, int site, KeyId key, ValueId accumulator, ValueId tuple);
  ValueId finish(int op, int site, KeyId key, ValueId group);
  ValueId concat(int op, int site, KeyId key, const std::vector<ValueId>& tuples);
  ValueId fill(int op, int site, KeyId key, const std::vector<TileType>& types);
  ValueId transfer(int op, int to, KeyId key, ValueId tuple);

  TaskGraph& graph() { return graph_; }
  const TaskGraph& graph() const { return graph_; }

 private:
  ValueId add(TaskKind kind, int op, int site, KeyId key, std::span<const ValueId> inputs,
              const Estimate& estimate);
  ValueId add(TaskKind kind, int op, int site, KeyId key, std::initializer_list<ValueId> inputs,
              const Estimate& estimate) {
    return add(kind, op, site, key, std::span(inputs.begin(), inputs.size()), estimate);
  }
  TypesId types_of(ValueId value) const { return graph_.values[value].types; }
  Estimate product_estimate(int op, TypesId left, TypesId right);
  std::int32_t cost_id(const Estimate& estimate);

  TaskGraph graph_;
  Estimates estimates_{graph_.types};
  std::map<std::tuple<double, double, double>, std::int32_t> costs_;
};

}  // namespace tessera::exec
