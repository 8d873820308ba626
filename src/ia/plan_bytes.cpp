#include "ia/plan_bytes.h"

#include <algorithm>

#include "base/check.h"
#include "ia/plan_node.h"

namespace tessera::ia {
namespace {

void put_placement(PackedWriter& out, const Placement& placement) {
  out.put_short(placement.sites());
  out.put_short(placement.is_scattered());
  if (placement.is_scattered()) {
    out.put_short(std::ssize(*placement.table()));
    // In the order of the keys: the same placement is the same bytes.
    std::vector<const Placement::Table::value_type*> entries;
    for (const auto& entry : *placement.table()) entries.push_back(&entry);
    std::sort(entries.begin(), entries.end(),
              [](const auto* a, const auto* b) { return a->first < b->first; });
    for (const auto* entry : entries) {
      out.put_short(std::ssize(entry->first));
      for (const std::int64_t component : entry->first) out.put_short(component);
      out.put_short(std::ssize(entry->second));
      for (const int site : entry->second) out.put_short(site);
    }
    return;
  }
  out.put_short(std::ssize(placement.axes()));
  for (const Axis& axis : placement.axes()) {
    out.put_short(axis.extent).put_short(static_cast<std::int64_t>(axis.kind));
    out.put_short(std::ssize(axis.digits));
    for (const Digit& digit : axis.digits)
      out.put_short(digit.component).put_short(digit.divisor).put_short(digit.stride);
  }
}

Placement read_placement(PackedReader& in) {
  const auto sites = static_cast<int>(in.short_below(max_sites + 1));
  if (in.short_below(2) != 0) {
    auto table = std::make_shared<Placement::Table>();
    for (std::size_t left = in.short_count(); left > 0; --left) {
      Key key(static_cast<std::size_t>(in.short_below(Key::capacity + 1)), 0);
      for (std::int64_t& component : key) component = in.short_integer();
      std::vector<int>& at = (*table)[key];
      at.resize(in.short_count());
      for (int& site : at) site = static_cast<int>(in.short_below(sites));
    }
    return Placement::scattered(std::move(table), sites);
  }
  std::vector<Axis> axes(in.short_count());
  for (Axis& axis : axes) {
    axis.extent = static_cast<int>(in.short_below(max_sites + 1));
    axis.kind = static_cast<Axis::Kind>(in.short_below(3));
    axis.digits.resize(in.short_count());
    for (Digit& digit : axis.digits) {
      digit.component = static_cast<int>(in.short_below(Key::capacity));
      digit.divisor = in.short_integer();
      digit.stride = in.short_integer();
    }
  }
  return {std::move(axes), sites};
}

/// Writes the operators of plans whose logical ones are written.
class Writer {
 public:
  explicit Writer(PlanWriter& logical) : logical_(logical), out_(logical.out()) {}

  void put(const Plan& plan) {
    const Operator& op = operator_of(plan);
    out_.put_short(static_cast<std::int64_t>(op.index()));
    logical_.put(plan.logical());
    for (const Plan& input : inputs_of(op)) refer(input);
    std::visit(*this, op);
    if (std::holds_alternative<Input>(op)) put_placement(out_, plan.placement());
    numbers_.emplace(&plan.node(), std::ssize(numbers_));
  }
  void refer(const Plan& plan) { out_.put_short(numbers_.at(&plan.node())); }

  void operator()(const Input&) {}
  void operator()(const Broadcast&) {}
  void operator()(const Fill&) {}
  void operator()(const Shuffle& move) { put_placement(out_, move.to); }
  void operator()(const Join& join) {
    logical_.put(join.left_keys);
    logical_.put(join.right_keys);
    put(join.projection);
    put(join.keys);
  }
  void operator()(const Aggregate& aggregate) {
    logical_.put(aggregate.group_by);
    out_.put_short(std::ssize(aggregate.kernels));
    for (const KernelCall& kernel : aggregate.kernels) logical_.put(kernel);
    put(aggregate.finish);
  }
  void operator()(const JoinAggregate& both) {
    logical_.put(both.aggregate.input.logical());
    (*this)(both.join());
    (*this)(both.aggregate);
  }
  void operator()(const Concat& concat) {
    out_.put_short(concat.key_component).put_short(concat.dimension);
  }
  void operator()(const Filter& filter) { logical_.put(filter.predicate); }
  void operator()(const Map& map) {
    out_.put_short(std::ssize(map.branches));
    for (const Branch& branch : map.branches) {
      put(branch.keys);
      out_.put_short(branch.cut.has_value());
      if (branch.cut)
        out_.put_short(branch.cut->dimension)
            .put_short(branch.cut->size)
            .put_short(branch.cut->piece);
      put(branch.arrays);
    }
  }

 private:
  void put(const Pipeline& stages) {
    out_.put_short(std::ssize(stages));
    for (const std::vector<Apply>& stage : stages) logical_.put(stage);
  }
  void put(const std::optional<KeyFunction>& keys) {
    out_.put_short(keys.has_value());
    if (keys) logical_.put(*keys);
  }

  PlanWriter& logical_;
  PackedWriter& out_;
  std::unordered_map<const Plan::Node*, std::int64_t> numbers_;
};

class Reader {
 public:
  explicit Reader(PlanReader& logical) : logical_(logical), in_(logical.in()) {}

  void read() { plans_.push_back(node()); }
  const Plan& plan() {
    return plans_[static_cast<std::size_t>(in_.short_below(std::ssize(plans_)))];
  }

 private:
  Plan node() {
    const std::int64_t kind = in_.short_below(std::variant_size_v<Operator>);
    const tessera::Plan what = logical_.plan();
    switch (kind) {
      case 0: return Plan::input(what, read_placement(in_));
      case 1: return checked(Broadcast{plan()}, what);
      case 2: {
        const Plan input = plan();
        return checked(Shuffle{input, read_placement(in_)}, what);
      }
      case 3: return checked(join(), what);
      case 4: {
        const Plan input = plan();
        return checked(aggregate(input), what);
      }
      case 5: {
        Join joined = join_of_inputs();
        const tessera::Plan product = logical_.plan();
        read_rest(joined);
        return checked(JoinAggregate{aggregate(checked(std::move(joined), product))}, what);
      }
      case 6: {
        const Plan input = plan();
        const auto component = static_cast<int>(in_.short_below(Key::capacity));
        return checked(Concat{input, component, static_cast<int>(in_.short_below(max_rank))}, what);
      }
      case 7: {
        const Plan input = plan();
        return checked(Filter{input, logical_.key_predicate()}, what);
      }
      case 8: {
        const Plan input = plan();
        return checked(Map{input, branches()}, what);
      }
      default: return checked(Fill{plan()}, what);
    }
  }

  /// The operator as it says that it computes this: what it computes is inferred, and compared.
  /// What a map of several branches computes is only said.
  Plan checked(Operator op, const tessera::Plan& what) {
    const auto* map = std::get_if<Map>(&op);
    if (map == nullptr || (map->branches.size() == 1 && !map->branches.front().cut)) {
      if (const Join* join = join_of(op))
        TESSERA_REQUIRE(IoError, !join->projection.empty(), "{} is damaged: a join without columns",
                        in_.what());
      const Plan found = make(op);
      TESSERA_REQUIRE(IoError, found.logical().type() == what.type(),
                      "{} is damaged: {} computes {}, not {}", in_.what(), describe(found),
                      to_string(found.logical().type()), to_string(what.type()));
    }
    return make(std::move(op), what);
  }

  Join join_of_inputs() {
    const Plan left = plan();
    return {left, plan(), {}, {}, {}};
  }
  void read_rest(Join& join) {
    join.left_keys = logical_.numbers();
    join.right_keys = logical_.numbers();
    join.projection = pipeline();
    join.keys = keys();
  }
  Join join() {
    Join result = join_of_inputs();
    read_rest(result);
    return result;
  }
  Aggregate aggregate(const Plan& input) {
    Aggregate result{input, logical_.numbers(), logical_.kernels()};
    result.finish = pipeline();
    return result;
  }
  std::vector<Branch> branches() {
    std::vector<Branch> result(in_.short_count());
    for (Branch& branch : result) {
      branch.keys = keys();
      if (in_.short_below(2) != 0) {
        const auto dimension = static_cast<int>(in_.short_below(max_rank));
        const std::int64_t size = in_.short_integer();
        branch.cut = {dimension, size, in_.short_integer()};
      }
      branch.arrays = pipeline();
    }
    return result;
  }
  Pipeline pipeline() {
    Pipeline stages(in_.short_count());
    for (std::vector<Apply>& stage : stages) stage = logical_.projection();
    return stages;
  }
  std::optional<KeyFunction> keys() {
    if (in_.short_below(2) == 0) return std::nullopt;
    return logical_.key_function();
  }

  PlanReader& logical_;
  PackedReader& in_;
  std::vector<Plan> plans_;
};

}  // namespace

void put(PlanWriter& writer, const std::vector<Plan>& plans) {
  const std::vector<Plan> all = in_order(plans);
  std::vector<tessera::Plan> computed;
  for (const Plan& plan : all) {
    computed.push_back(plan.logical());
    if (const auto* both = std::get_if<JoinAggregate>(&operator_of(plan)))
      computed.push_back(both->aggregate.input.logical());
  }
  writer.put_nodes(computed);
  writer.out().put_short(std::ssize(all));
  Writer operators(writer);
  for (const Plan& plan : all) operators.put(plan);
  writer.out().put_short(std::ssize(plans));
  for (const Plan& plan : plans) operators.refer(plan);
}

std::vector<Plan> read_plans(PlanReader& reader) {
  reader.read_nodes();
  Reader operators(reader);
  for (std::size_t left = reader.in().short_count(); left > 0; --left) operators.read();
  std::vector<Plan> plans;
  for (std::size_t left = reader.in().short_count(); left > 0; --left)
    plans.push_back(operators.plan());
  return plans;
}

std::string to_bytes(const std::vector<Plan>& plans) {
  PlanWriter writer;
  put(writer, plans);
  return enclosed(Written::physical_plans, writer.out().bytes());
}

std::vector<Plan> plans_from_bytes(std::string_view bytes, const FindInput& find) {
  PackedReader in(opened(Written::physical_plans, bytes), written_plan);
  PlanReader reader(in, find);
  std::vector<Plan> plans = read_plans(reader);
  in.require_done();
  return plans;
}

}  // namespace tessera::ia
