#include "exec/graph_flaws.h"

#include <algorithm>

#include "ia/plan_node.h"

namespace tessera::exec {
namespace {

/// How many inputs a task of a kind has; any number but none: -1.
int inputs_of(TaskKind kind) {
  switch (kind) {
    case TaskKind::map:
    case TaskKind::finish:
    case TaskKind::transfer: return 1;
    case TaskKind::product:
    case TaskKind::fold: return 2;
    case TaskKind::multiply_add:
    case TaskKind::product_fold: return 3;
    case TaskKind::concat: return -1;
    case TaskKind::fill: return 0;
  }
  return -1;
}

/// Whether an operator has tasks of a kind.
bool has_tasks(const ia::Operator& op, TaskKind kind, int branch) {
  const auto* map = std::get_if<ia::Map>(&op);
  const auto* both = std::get_if<ia::JoinAggregate>(&op);
  switch (kind) {
    case TaskKind::map: return map != nullptr && std::cmp_less(branch, map->branches.size());
    case TaskKind::product: return ia::join_of(op) != nullptr;
    case TaskKind::multiply_add: return both != nullptr && both->sums_single_tiles();
    case TaskKind::product_fold: return both != nullptr;
    case TaskKind::fold: return std::holds_alternative<ia::Aggregate>(op);
    case TaskKind::finish: return ia::aggregate_of(op) != nullptr;
    case TaskKind::concat: return std::holds_alternative<ia::Concat>(op);
    case TaskKind::fill: return std::holds_alternative<ia::Fill>(op);
    case TaskKind::transfer:
      return std::holds_alternative<ia::Broadcast>(op) || std::holds_alternative<ia::Shuffle>(op);
  }
  return false;
}

class Check {
 public:
  explicit Check(const TaskGraph& graph) : graph_(graph), is_made_(graph.values.size(), false) {}

  bool holds() {
    const auto all = [](const auto& list, const auto& is_right) {
      return std::all_of(list.begin(), list.end(), is_right);
    };
    return all(graph_.given, [&](const TaskGraph::Given& given) { return make(given.value); }) &&
           all(graph_.tasks, [&](const Task& task) { return is_right(task); }) &&
           all(graph_.outputs, [&](const auto& output) { return is_made_[output.value]; }) &&
           all(is_made_, [](bool made) { return made; });
  }

 private:
  bool make(ValueId value) {
    if (is_made_[value]) return false;
    is_made_[value] = true;
    return true;
  }

  bool is_right(const Task& task) {
    const int wanted = inputs_of(task.kind);
    if (wanted < 0 ? task.inputs == 0 : task.inputs != wanted) return false;
    if (!has_tasks(ia::operator_of(graph_.steps[task.op]), task.kind, task.branch)) return false;
    for (const ValueId input : graph_.inputs_of(task))
      if (!is_made_[input] || graph_.values[input].site != task.site) return false;
    const bool stays = graph_.values[task.output].site == task.site;
    return stays == (task.kind != TaskKind::transfer) && make(task.output);
  }

  const TaskGraph& graph_;
  std::vector<bool> is_made_;  // by value
};

}  // namespace

bool is_sound(const TaskGraph& graph) { return Check(graph).holds(); }

}  // namespace tessera::exec
