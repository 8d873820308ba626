#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "exec/estimates.h"
#include "exec/key_store.h"
#include "tessera/ia.h"

namespace tessera::exec {

using ValueId = std::int32_t;
using TaskId = std::int32_t;

/// What a task does with its inputs, which come in this order.
enum class TaskKind : std::uint8_t {
  map,           // [tuple]: a branch of a Map
  product,       // [left, right]: the projection of a Join; of a JoinAggregate, of a group's first
  multiply_add,  // [accumulator, left, right]: accumulator += product, which is never made
  product_fold,  // [accumulator, left, right]: the product is made, folded and dropped
  fold,          // [accumulator, tuple]: one more of a group
  finish,        // [accumulator]: what an Aggregate does to a finished group
  concat,        // [tuples in order]
  fill,          // []: the zeros that a sparse relation leaves out
  transfer,      // [tuple]: to another site. It is a task of the sender
};

/// The tiles of one tuple at one site. Tuples that an operator only renames or keeps share it.
struct Value {
  std::int32_t site = 0;
  TypesId types = unknown_types;
};

struct Task {
  KeyId key = 0;  // of the tuple it is told by in messages
  std::int32_t op = 0;
  std::int32_t branch = 0;  // of a Map
  std::int32_t cost = 0;    // and transient
  std::int32_t site = 0;
  ValueId output = 0;
  std::int32_t first_input = 0;
  std::int32_t inputs = 0;
  TaskKind kind = TaskKind::map;
};

/// A physical plan over its keys: what is to be computed for each tile, where, and from what.
/// Plain data that is the same on whatever machine it is made. Each value is made by one task, or
/// given; a task can run when its inputs are there. Tasks are numbered in the order in which they
/// are best taken; `expand` makes that depth first from the outputs in order of their keys, which
/// finishes output tiles early and keeps few others alive.
struct TaskGraph {
  int sites = 1;
  std::vector<ia::Plan> plans;  // that were expanded
  std::vector<ia::Plan> steps;  // the operators that have work
  KeyStore keys;
  TypeTable types;
  std::vector<Cost> costs;
  std::vector<std::int64_t> transients;  // by cost: bytes that the task needs for a while
  bool costs_known = true;               // no: some kernel of a user's does not say what it costs
  std::vector<Value> values;
  std::vector<Task> tasks;
  std::vector<ValueId> task_inputs;

  struct Given {
    ValueId value;
    const std::vector<Tile>* tiles;  // of a relation, which the plan holds; null: the source makes
    const op::Input* input;          // them. Of this input
    KeyId key;                       // and at this key
  };
  std::vector<Given> given;
  struct Output {
    std::int32_t result;  // of which plan
    KeyId key;
    ValueId value;
  };
  std::vector<Output> outputs;  // by result, key and site, all copies

  /// The tasks that read a value: readers[first_reader[v]] to before readers[first_reader[v + 1]].
  /// A task that reads it twice is there twice.
  std::vector<std::int32_t> first_reader;
  std::vector<TaskId> readers;

  std::span<const ValueId> inputs_of(const Task& task) const {
    return {task_inputs.data() + task.first_input, static_cast<std::size_t>(task.inputs)};
  }
  std::span<const TaskId> readers_of(ValueId value) const {
    return {readers.data() + first_reader[value], readers.data() + first_reader[value + 1]};
  }
  /// How many tasks and outputs read each value.
  std::vector<std::int32_t> count_readers() const {
    std::vector<std::int32_t> counts(values.size(), 0);
    for (std::size_t v = 0; v < values.size(); ++v)
      counts[v] = static_cast<std::int32_t>(readers_of(static_cast<ValueId>(v)).size());
    for (const Output& output : outputs) ++counts[output.value];
    return counts;
  }
  /// Whether what a task makes is of its operator's result, and not an accumulator that the
  /// operator goes on with.
  bool makes_result(const Task& task) const {
    if (task.kind == TaskKind::transfer) return true;
    for (const TaskId reader : readers_of(task.output))
      if (tasks[reader].op == task.op) return false;
    return true;
  }
};

/// PlanError unless each plan yields a whole result, on as many sites as the others.
void require_results(const std::vector<ia::Plan>& plans);
/// Expands a plan. PlanError for what only the keys at hand show: keys that collide or are
/// missing, and inputs that have no tuples.
TaskGraph expand(const std::vector<ia::Plan>& plans);
inline TaskGraph expand(const ia::Plan& plan) { return expand(std::vector<ia::Plan>{plan}); }

/// An operator for messages: as the user wrote it where it does just that one operator.
std::string describe_step(const ia::Plan& plan);

}  // namespace tessera::exec
