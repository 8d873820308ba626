#include <algorithm>

#include "base/check.h"
#include "base/deep_trees.h"
#include "ia/contents.h"
#include "ia/join_placement.h"
#include "ia/plan_node.h"
#include "tra/plan_node.h"

namespace tessera::ia {
namespace {

std::vector<int> all_components(int arity) {
  std::vector<int> result;
  for (int i = 0; i < arity; ++i) result.push_back(i);
  return result;
}

tessera::Plan through(tessera::Plan plan, const Pipeline& stages) {
  for (const std::vector<Apply>& stage : stages) plan = plan.transform(stage);
  return plan;
}

/// What an operator computes, sites left aside.
struct Logical {
  tessera::Plan operator()(const Input&) const {
    throw InternalError("the logical plan of an input is given");
  }
  tessera::Plan operator()(const Broadcast& move) const { return move.input.logical(); }
  tessera::Plan operator()(const Shuffle& move) const { return move.input.logical(); }
  tessera::Plan operator()(const Fill& fill) const { return fill.input.logical(); }
  tessera::Plan operator()(const Join& join) const {
    TESSERA_INVARIANT(!join.projection.empty(), "a join projects");
    tessera::Plan plan = join.left.logical().join(join.right.logical(), join.left_keys,
                                                  join.right_keys, join.projection.front());
    plan = through(plan, Pipeline(join.projection.begin() + 1, join.projection.end()));
    return join.keys ? plan.rekey(*join.keys) : plan;
  }
  tessera::Plan operator()(const Aggregate& aggregate) const {
    const tessera::Plan& input = aggregate.input.logical();
    const bool again = !aggregate.input.pending().empty() &&
                       aggregate.group_by == all_components(input.type().arity());
    return through(again ? input : input.aggregate(aggregate.group_by, aggregate.kernels),
                   aggregate.finish);
  }
  tessera::Plan operator()(const JoinAggregate& both) const { return (*this)(both.aggregate); }
  tessera::Plan operator()(const Concat& concat) const {
    return concat.input.logical().concat(concat.key_component, concat.dimension);
  }
  tessera::Plan operator()(const Filter& filter) const {
    return filter.input.logical().filter(filter.predicate);
  }
  tessera::Plan operator()(const Map& map) const {
    TESSERA_REQUIRE(PlanError, map.branches.size() == 1 && !map.branches.front().cut,
                    "the logical plan of a map with {} branches must be given",
                    map.branches.size());
    const tessera::Plan plan = through(map.input.logical(), map.branches.front().arrays);
    return map.branches.front().keys ? plan.rekey(*map.branches.front().keys) : plan;
  }
};

/// A placement through a key function. `input` is what it is applied to, and is listed only if it
/// must be.
template <class Input>
Placement through_keys(const Placement& placement, const std::vector<Branch>& branches,
                       const Input& input) {
  const auto arity = static_cast<std::size_t>(input.type().arity());
  // A component that every branch passes on keeps its meaning.
  std::vector<int> to(arity, -1);
  const KeyFunction& first = *branches.front().keys;
  for (std::size_t from = 0; from < arity; ++from)
    for (int o = 0; o < first.output_arity() && to[from] < 0; ++o) {
      const bool passed = std::all_of(branches.begin(), branches.end(), [&](const Branch& branch) {
        return equal(branch.keys->components()[o], key(static_cast<int>(from)));
      });
      if (passed) to[from] = o;
    }
  bool expressible = !placement.is_scattered();
  for (const Axis& axis : placement.axes())
    for (const Digit& digit : axis.digits) expressible = expressible && to[digit.component] >= 0;
  if (expressible) return placement.renumber(to, Axis::Kind::copy);

  auto table = std::make_shared<Placement::Table>();
  for (const Key& from : contents_of(input).keys) {
    const std::vector<int> holders = placement.holders(from);
    for (const Branch& branch : branches) (*table)[branch.keys->evaluate(from)] = holders;
  }
  return Placement::scattered(std::move(table), placement.sites());
}

struct Located {
  Placement placement;
  std::vector<KernelCall> pending = {};
};

/// Where the result of an operator lies.
struct Locate {
  const tessera::Plan& logical;

  Located operator()(const Input&) const {
    throw InternalError("the placement of an input is given");
  }
  Located operator()(const Broadcast& move) const {
    return {Placement::all(move.input.sites()), move.input.pending()};
  }
  Located operator()(const Shuffle& move) const {
    TESSERA_REQUIRE(
        PlanError, move.to.sites() == move.input.sites(),
        "SHUF from {} sites to {}: the number of sites must be the same in the whole plan",
        move.input.sites(), move.to.sites());
    TESSERA_REQUIRE(PlanError, !move.to.has_partials() && !move.to.is_scattered(),
                    "SHUF {}: tuples cannot be sent to this placement", move.to.to_string());
    for (const Axis& axis : move.to.axes())
      for (const Digit& digit : axis.digits)
        TESSERA_REQUIRE(PlanError, digit.component < move.input.type().arity(),
                        "SHUF {}: keys have only {} components", move.to.to_string(),
                        move.input.type().arity());
    return {move.to, move.input.pending()};
  }
  Located operator()(const Fill& fill) const {
    refuse_pending("Fill", fill.input);
    TESSERA_REQUIRE(PlanError, !fill.input.placement().is_scattered(),
                    "Fill: the site of absent keys is not known; shuffle first");
    return {fill.input.placement()};
  }
  Located operator()(const Join& join) const {
    refuse_pending("Join", join.left);
    refuse_pending("Join", join.right);
    Placement placement = join_placement(join);
    if (join.keys) {
      const tessera::Plan joined = join.left.logical().join(
          join.right.logical(), join.left_keys, join.right_keys, join.projection.front());
      placement = through_keys(placement, {{join.keys, {}, {}}}, joined);
    }
    return {placement};
  }
  Located operator()(const Aggregate& aggregate) const {
    const Plan& input = aggregate.input;
    TESSERA_REQUIRE(PlanError, input.pending().empty() || input.pending() == aggregate.kernels,
                    "Aggregate: partial results of {} cannot be combined with {}",
                    input.pending().front().to_string(), aggregate.kernels.front().to_string());
    std::vector<int> to(static_cast<std::size_t>(input.type().arity()), -1);
    for (std::size_t i = 0; i < aggregate.group_by.size(); ++i)
      to[aggregate.group_by[i]] = static_cast<int>(i);
    Located result;
    bool partial = false;
    if (input.placement().is_scattered()) {
      TESSERA_REQUIRE(
          PlanError, !input.placement().has_copies(),
          "Aggregate: {} has copies of some tuples, which would be counted twice; shuffle first",
          input.placement().to_string());
      auto table = std::make_shared<Placement::Table>();
      for (const Key& from : contents_of(input).keys) {
        Key group;
        for (int i : aggregate.group_by) group.push_back(from[i]);
        std::vector<int>& sites = (*table)[group];
        for (int site : input.placement().holders(from))
          if (std::find(sites.begin(), sites.end(), site) == sites.end()) sites.push_back(site);
        std::sort(sites.begin(), sites.end());
        partial = partial || sites.size() > 1;
      }
      result.placement = Placement::scattered(std::move(table), input.sites());
    } else {
      result.placement = input.placement().renumber(to, Axis::Kind::partial);
      partial = result.placement.has_partials();
    }
    if (partial) {
      for (const KernelCall& kernel : aggregate.kernels)
        TESSERA_REQUIRE(PlanError,
                        kernel.properties().associative && kernel.properties().commutative,
                        "Aggregate: a group is spread over several sites, but {} cannot be "
                        "computed in parts: it is not known to be associative and commutative",
                        kernel.to_string());
      TESSERA_REQUIRE(
          PlanError, aggregate.finish.empty(),
          "Aggregate: only whole groups can be finished, but these are spread over several sites");
      result.pending = aggregate.kernels;
    }
    return result;
  }
  Located operator()(const JoinAggregate& both) const { return (*this)(both.aggregate); }
  Located operator()(const Concat& concat) const {
    refuse_pending("Concat", concat.input);
    std::vector<int> to, kept;
    for (int i = 0; i < concat.input.type().arity(); ++i) {
      to.push_back(i < concat.key_component ? i : i - 1);
      if (i != concat.key_component) kept.push_back(i);
    }
    to[concat.key_component] = -1;
    const Placement& from = concat.input.placement();
    const bool together = from.is_all() || [&] {
      for (const Axis& axis : from.axes())
        for (const Digit& digit : axis.digits)
          if (digit.component == concat.key_component) return false;
      return !from.is_scattered();
    }();
    TESSERA_REQUIRE(PlanError, together,
                    "Concat: the arrays of a group may be at different sites of {}",
                    from.to_string());
    return {from.renumber(to, Axis::Kind::copy)};
  }
  Located operator()(const Filter& filter) const {
    return {filter.input.placement(), filter.input.pending()};
  }
  Located operator()(const Map& map) const {
    refuse_pending("Map", map.input);
    TESSERA_REQUIRE(PlanError, !map.branches.empty(), "Map: at least one branch is needed");
    if (!map.branches.front().keys) return {map.input.placement()};
    return {through_keys(map.input.placement(), map.branches, map.input)};
  }

  static void refuse_pending(const char* what, const Plan& input) {
    TESSERA_REQUIRE(PlanError, input.pending().empty(),
                    "{}: its input has partial results that must first be combined with {}", what,
                    input.pending().front().to_string());
  }
};

/// "All columns" of a kernel spelled out, as they are in the logical plan that ends with these
/// stages.
void spell_out(Pipeline& stages, tessera::Plan what) {
  for (auto stage = stages.rbegin(); stage != stages.rend(); ++stage) {
    if (const auto* rekey = std::get_if<op::ReKey>(&tessera::operator_of(what))) {
      const tessera::Plan input = rekey->input;
      what = input;
    }
    const tessera::Operator& op = tessera::operator_of(what);
    if (const auto* transform = std::get_if<op::Transform>(&op)) *stage = transform->projection;
    if (const auto* join = std::get_if<op::Join>(&op)) *stage = join->projection;
    const tessera::Plan input = tessera::inputs_of(op).front();
    what = input;
  }
}

void spell_out_columns(Operator& op, const tessera::Plan& what) {
  if (auto* join = std::get_if<Join>(&op)) spell_out(join->projection, what);
  if (auto* aggregate = std::get_if<Aggregate>(&op)) spell_out(aggregate->finish, what);
  if (auto* map = std::get_if<Map>(&op)) spell_out(map->branches.front().arrays, what);
}

}  // namespace

Plan make(Operator op, const std::optional<tessera::Plan>& logical) {
  const tessera::Plan what = logical ? *logical : std::visit(Logical{}, op);
  if (!logical) spell_out_columns(op, what);
  const Located located = std::visit(Locate{what}, op);
  auto node = std::make_shared<Plan::Node>(std::move(op), what);
  node->placement = located.placement;
  node->pending = located.pending;
  node->type = what.type();
  // Zeros are left out only where an input leaves them out.
  const std::vector<Plan> inputs = inputs_of(node->op);
  const bool sparse = std::any_of(inputs.begin(), inputs.end(), [](const Plan& input) {
    return input.type().presence == Presence::sparse;
  });
  if (what.type().presence == Presence::sparse &&
      (!sparse || std::holds_alternative<Fill>(node->op)))
    node->type.presence = Presence::continuous;
  return Plan(std::move(node));
}

Plan Plan::input(const tessera::Plan& logical, const Placement& placement) {
  TESSERA_REQUIRE(PlanError, std::holds_alternative<op::Input>(tessera::operator_of(logical)),
                  "{} is not an input", tessera::describe(tessera::operator_of(logical)));
  TESSERA_REQUIRE(PlanError, !placement.has_partials(),
                  "an input cannot be placed in partial sums");
  for (const Axis& axis : placement.axes())
    for (const Digit& digit : axis.digits)
      TESSERA_REQUIRE(PlanError, digit.component < logical.type().arity(),
                      "{} cannot be placed {}: its keys have only {} components",
                      tessera::describe(tessera::operator_of(logical)), placement.to_string(),
                      logical.type().arity());
  auto node = std::make_shared<Node>(Input{}, logical);
  node->placement = placement;
  node->type = logical.type();
  return Plan(std::move(node));
}

Plan Plan::broadcast() const { return make(Broadcast{*this}, logical()); }
Plan Plan::shuffle(const Placement& to) const { return make(Shuffle{*this, to}, logical()); }
Plan Plan::shuffle(const std::vector<int>& components) const {
  return shuffle(Placement::part(components, type().frontier, sites()));
}
Plan Plan::join(const Plan& right, const std::vector<int>& left_keys,
                const std::vector<int>& right_keys, const std::vector<Apply>& projection) const {
  return make(Join{*this, right, left_keys, right_keys, {projection}});
}
Plan Plan::aggregate(const std::vector<int>& group_by,
                     const std::vector<KernelCall>& kernels) const {
  return make(Aggregate{*this, group_by, kernels});
}
Plan Plan::concat(int key_component, int dimension) const {
  return make(Concat{*this, key_component, dimension});
}
Plan Plan::filter(const KeyPredicate& predicate) const { return make(Filter{*this, predicate}); }
Plan Plan::map(std::vector<Branch> branches) const { return make(Map{*this, std::move(branches)}); }
Plan Plan::map(const std::optional<KeyFunction>& keys, const Pipeline& arrays) const {
  return make(Map{*this, {{keys, {}, arrays}}});
}
Plan Plan::fill() const { return make(Fill{*this}, logical()); }

Plan Plan::duplicate(int position, std::int64_t count) const {
  const int arity = type().arity();
  TESSERA_REQUIRE(PlanError, position >= 0 && position <= arity && count >= 1,
                  "Duplicate: cannot insert {} copies at position {} of a key with {} components",
                  count, position, arity);
  // The product below sees the zeros that a sparse relation leaves out.
  if (type().presence == Presence::sparse) return fill().duplicate(position, count);
  std::vector<Branch> branches;
  for (std::int64_t copy = 0; copy < count; ++copy) {
    std::vector<KeyExpr> components;
    for (int i = 0; i < arity; ++i) components.push_back(key(i));
    components.insert(components.begin() + position, KeyExpr(copy));
    branches.push_back({KeyFunction(components), {}, {}});
  }
  // In the algebra: a product with a relation of `count` tuples of which nothing is used.
  const tessera::Plan counter =
      tessera::Plan::input(RelationType{{{"", {DType::f64, {}, 0}}}, Key{count}}, "copies");
  std::vector<Apply> same;
  for (std::size_t c = 0; c < type().columns.size(); ++c)
    same.push_back(Apply::column(static_cast<int>(c), type().columns[c].name));
  std::vector<KeyExpr> moved;
  for (int i = 0; i < arity; ++i) moved.push_back(key(i));
  moved.insert(moved.begin() + position, key(arity));
  tessera::Plan what = logical().join(counter, {}, {}, same);
  if (position < arity) what = what.rekey(KeyFunction(moved));
  return make(Map{*this, std::move(branches)}, what);
}

Plan Plan::tile(int dimension, std::int64_t size) const {
  const tessera::Plan what = logical().tile(dimension, size);
  const auto& cut = std::get<op::Tile>(tessera::operator_of(what));
  std::vector<Branch> branches;
  for (std::int64_t piece = 0; piece < cut.pieces; ++piece) {
    std::vector<KeyExpr> components;
    for (int i = 0; i < type().arity(); ++i) components.push_back(key(i));
    components.emplace_back(piece);
    branches.push_back({KeyFunction(components), Branch::Cut{dimension, size, piece}, {}});
  }
  return make(Map{*this, std::move(branches)}, what);
}

const RelationType& Plan::type() const { return node_->type; }
const Placement& Plan::placement() const { return node_->placement; }
const tessera::Plan& Plan::logical() const { return node_->logical; }
const std::vector<KernelCall>& Plan::pending() const { return node_->pending; }
const Operator& operator_of(const Plan& plan) { return plan.node().op; }

const Join& JoinAggregate::join() const { return std::get<Join>(operator_of(aggregate.input)); }

const Join* join_of(const Operator& op) {
  const auto* both = std::get_if<JoinAggregate>(&op);
  return both != nullptr ? &both->join() : std::get_if<Join>(&op);
}

const Aggregate* aggregate_of(const Operator& op) {
  const auto* both = std::get_if<JoinAggregate>(&op);
  return both != nullptr ? &both->aggregate : std::get_if<Aggregate>(&op);
}

bool is_move(const Plan& plan) {
  const Operator& op = operator_of(plan);
  return std::holds_alternative<Broadcast>(op) || std::holds_alternative<Shuffle>(op);
}

std::vector<Plan> inputs_of(const Operator& op) {
  return std::visit(
      []<class Op>(const Op& node) -> std::vector<Plan> {
        if constexpr (std::is_same_v<Op, Input>)
          return {};
        else if constexpr (std::is_same_v<Op, Join>)
          return {node.left, node.right};
        else if constexpr (std::is_same_v<Op, JoinAggregate>)
          return {node.join().left, node.join().right};
        else
          return {node.input};
      },
      op);
}

Operator with_inputs(const Operator& op, const std::vector<Plan>& inputs) {
  Operator result = op;
  std::visit(
      [&]<class Op>(Op& node) {
        if constexpr (std::is_same_v<Op, Join>) {
          node.left = inputs.at(0);
          node.right = inputs.at(1);
        } else if constexpr (std::is_same_v<Op, JoinAggregate>) {
          const Plan& join = node.aggregate.input;
          node.aggregate.input = make(with_inputs(operator_of(join), inputs), join.logical());
        } else if constexpr (!std::is_same_v<Op, Input>) {
          node.input = inputs.at(0);
        }
      },
      result);
  return result;
}

Plan::Node::~Node() {
  release_inputs(*this, [](Node& node, std::vector<std::shared_ptr<const Node>>& into) {
    std::visit(
        [&]<class Op>(Op& holds) {
          if constexpr (std::is_same_v<Op, Join>) {
            into.push_back(std::move(holds.left.node_));
            into.push_back(std::move(holds.right.node_));
          } else if constexpr (std::is_same_v<Op, JoinAggregate>) {
            into.push_back(std::move(holds.aggregate.input.node_));
          } else if constexpr (!std::is_same_v<Op, Input>) {
            into.push_back(std::move(holds.input.node_));
          }
        },
        node.op);
  });
}

std::vector<Plan> in_order(const Plan& root) { return in_order(std::vector<Plan>{root}); }

std::vector<Plan> in_order(const std::vector<Plan>& roots) {
  return inputs_first(roots, [](const Plan& plan) { return inputs_of(operator_of(plan)); });
}

Plan stand_in(const Plan& made) {
  auto node = std::make_shared<Plan::Node>(Input{}, made.logical());
  node->placement = made.placement();
  node->type = made.type();
  return Plan(std::move(node));
}

ReaderCounts count_readers(const std::vector<Plan>& roots) {
  return tessera::count_readers(roots,
                                [](const Plan& plan) { return inputs_of(operator_of(plan)); });
}

}  // namespace tessera::ia
