#include "exec/graph_bytes.h"

#include <limits>
#include <unordered_map>

#include "base/check.h"
#include "base/memory_account.h"
#include "base/stop.h"
#include "exec/graph_flaws.h"
#include "exec/task_order.h"
#include "tra/plan_bytes.h"

// Most numbers are close to the one before: what is written is how far they are from it.

namespace tessera::exec {
namespace {

/// The inputs that plans read, in order.
std::vector<const op::Input*> inputs_below(const std::vector<ia::Plan>& all) {
  std::vector<const op::Input*> inputs;
  for (const ia::Plan& plan : all)
    if (std::holds_alternative<ia::Input>(ia::operator_of(plan)))
      inputs.push_back(&std::get<op::Input>(tessera::operator_of(plan.logical())));
  return inputs;
}

class Writer {
 public:
  Writer(PackedWriter& out, const TaskGraph& graph) : out_(out), graph_(graph) {}

  void put() {
    out_.put_short(graph_.sites).put_short(graph_.costs_known);
    const std::vector<ia::Plan> all = ia::in_order(graph_.plans);
    put_steps(all);
    put_keys();
    put_types();
    out_.put_short(std::ssize(graph_.costs));
    for (std::size_t i = 0; i < graph_.costs.size(); ++i)
      out_.put(graph_.costs[i].flops).put(graph_.costs[i].bytes).put_short(graph_.transients[i]);
    out_.put_short(std::ssize(graph_.values));
    for (const Value& value : graph_.values) out_.put_short(value.site).put_short(value.types);
    put_given(inputs_below(all));
    put_tasks();
    put_outputs();
  }

 private:
  void put_steps(const std::vector<ia::Plan>& all) {
    std::unordered_map<const ia::Plan::Node*, std::int64_t> numbers;
    for (const ia::Plan& plan : all) numbers.emplace(&plan.node(), std::ssize(numbers));
    out_.put_short(std::ssize(graph_.steps));
    for (const ia::Plan& step : graph_.steps) out_.put_short(numbers.at(&step.node()));
  }

  void put_keys() {
    const std::vector<std::int64_t>& words = graph_.keys.words();
    out_.put_short(std::ssize(words));
    for (const std::int64_t word : words) out_.put_short(word);
  }

  void put_types() {
    out_.put_short(std::ssize(graph_.types.lists()));
    for (const std::vector<TileType>& types : graph_.types.lists()) {
      out_.put_short(std::ssize(types));
      for (const TileType& type : types) tessera::put(out_, type);
    }
  }

  void put_given(const std::vector<const op::Input*>& inputs) {
    std::unordered_map<const op::Input*, std::int64_t> numbers;
    for (const op::Input* input : inputs) numbers.emplace(input, std::ssize(numbers));
    out_.put_short(std::ssize(graph_.given));
    KeyId last = 0;
    for (const TaskGraph::Given& given : graph_.given) {
      out_.put_short(given.value).put_short(numbers.at(given.input));
      put_after(last, given.key);
    }
  }

  void put_tasks() {
    out_.put_short(std::ssize(graph_.tasks));
    KeyId last_key = 0;
    ValueId last_output = 0;
    for (const Task& task : graph_.tasks) {
      out_.put_short(static_cast<std::int64_t>(task.kind)).put_short(task.op);
      out_.put_short(task.branch).put_short(task.cost).put_short(task.site);
      put_after(last_key, task.key);
      put_after(last_output, task.output);
      out_.put_short(task.inputs);
      for (const ValueId input : graph_.inputs_of(task)) out_.put_short(task.output - input);
    }
  }

  void put_outputs() {
    out_.put_short(std::ssize(graph_.outputs));
    KeyId last_key = 0;
    ValueId last_value = 0;
    for (const TaskGraph::Output& output : graph_.outputs) {
      out_.put_short(output.result);
      put_after(last_key, output.key);
      put_after(last_value, output.value);
    }
  }

  template <class Number>
  void put_after(Number& last, Number number) {
    out_.put_short(number - last);
    last = number;
  }

  PackedWriter& out_;
  const TaskGraph& graph_;
};

class Reader {
 public:
  Reader(PackedReader& in, const std::vector<ia::Plan>& plans)
      : in_(in), all_(ia::in_order(plans)) {
    graph_.plans = plans;
  }

  TaskGraph read() {
    graph_.sites = static_cast<int>(in_.short_below(max_sites + 1));
    require(graph_.sites == graph_.plans.front().sites());
    graph_.costs_known = in_.short_below(2) != 0;
    for (std::size_t left = in_.short_count(); left > 0; --left)
      graph_.steps.push_back(all_[below(all_.size())]);
    read_keys();
    read_types();
    for (std::size_t left = in_.short_count(); left > 0; --left) {
      const auto flops = in_.number<double>();
      graph_.costs.push_back({flops, in_.number<double>()});
      graph_.transients.push_back(in_.short_integer());
    }
    graph_.values.resize(counted_below(std::numeric_limits<std::int32_t>::max()));
    for (Value& value : graph_.values) {
      value.site = static_cast<std::int32_t>(in_.short_below(graph_.sites));
      value.types = static_cast<TypesId>(in_.short_integer());
      require(value.types >= unknown_types && value.types < std::ssize(graph_.types.lists()));
    }
    read_given();
    read_tasks();
    read_outputs();
    require(is_sound(graph_));
    index_readers(graph_);
    return std::move(graph_);
  }

 private:
  void require(bool fits) const {
    TESSERA_REQUIRE(IoError, fits, "{} is damaged: its tasks do not match its plans", in_.what());
  }
  std::size_t below(std::size_t end) {
    return static_cast<std::size_t>(in_.short_below(static_cast<std::int64_t>(end)));
  }
  std::size_t counted_below(std::size_t end) {
    const std::size_t count = in_.short_count();
    require(count < end);
    look_at_memory("the tasks of a plan");
    return count;
  }
  template <class Number>
  Number after(Number& last) {
    last = static_cast<Number>(last + in_.short_integer());
    return last;
  }
  KeyId key_after(KeyId& last) {
    const KeyId key = after(last);
    require(key >= 0 && std::cmp_less(key, is_key_.size()) &&
            is_key_[static_cast<std::size_t>(key)]);
    return key;
  }
  ValueId known(std::int64_t value) const {
    require(value >= 0 && std::cmp_less(value, graph_.values.size()));
    return static_cast<ValueId>(value);
  }

  void read_keys() {
    std::size_t left = in_.short_count();
    is_key_.assign(left, false);
    while (left > 0) {
      Key key(below(Key::capacity + 1), 0);
      require(key.size() < left);
      for (std::int64_t& component : key) component = in_.short_integer();
      is_key_[static_cast<std::size_t>(graph_.keys.add(key))] = true;
      left -= key.size() + 1;
    }
  }

  void read_types() {
    for (std::size_t left = in_.short_count(); left > 0; --left) {
      std::vector<TileType> types(in_.short_count());
      for (TileType& type : types) type = read_tile_type(in_);
      (void)graph_.types.add(types);
    }
  }

  void read_given() {
    const std::vector<const op::Input*> inputs = inputs_below(all_);
    KeyId last = 0;
    graph_.given.resize(counted_below(graph_.values.size() + 1));
    for (TaskGraph::Given& given : graph_.given) {
      given.value = known(in_.short_integer());
      given.input = inputs[below(inputs.size())];
      given.key = key_after(last);
      if (given.input->relation) {
        const tessera::Tuple* tuple = given.input->relation->find(graph_.keys[given.key]);
        require(tuple != nullptr);
        given.tiles = &tuple->tiles;
      } else {
        TESSERA_REQUIRE(
            PlanError, given.input->source != nullptr,
            "input \"{}\" has a type but no tuples: the plan can be explained, but not run",
            given.input->name);
      }
    }
  }

  void read_tasks() {
    KeyId last_key = 0;
    ValueId last_output = 0;
    graph_.tasks.resize(counted_below(graph_.values.size() + 1));
    for (Task& task : graph_.tasks) {
      refuse_if_stopped("tasks were read");
      task.kind = static_cast<TaskKind>(below(9));
      task.op = static_cast<std::int32_t>(below(graph_.steps.size()));
      task.branch = static_cast<std::int32_t>(in_.short_integer());
      task.cost = static_cast<std::int32_t>(below(graph_.costs.size()));
      task.site = static_cast<std::int32_t>(in_.short_below(graph_.sites));
      task.key = key_after(last_key);
      task.output = known(after(last_output));
      task.inputs = static_cast<std::int32_t>(in_.short_count());
      task.first_input = static_cast<std::int32_t>(graph_.task_inputs.size());
      require(task.branch >= 0);
      for (int i = 0; i < task.inputs; ++i)
        graph_.task_inputs.push_back(known(task.output - in_.short_integer()));
    }
  }

  void read_outputs() {
    KeyId last_key = 0;
    ValueId last_value = 0;
    graph_.outputs.resize(in_.short_count());
    for (TaskGraph::Output& output : graph_.outputs) {
      output.result = static_cast<std::int32_t>(below(graph_.plans.size()));
      output.key = key_after(last_key);
      output.value = known(after(last_value));
    }
  }

  PackedReader& in_;
  const std::vector<ia::Plan> all_;
  TaskGraph graph_;
  std::vector<bool> is_key_;  // where in the store one begins
};

}  // namespace

void put(PackedWriter& out, const TaskGraph& graph) { Writer(out, graph).put(); }

TaskGraph read_graph(PackedReader& in, const std::vector<ia::Plan>& plans) {
  return Reader(in, plans).read();
}

}  // namespace tessera::exec
