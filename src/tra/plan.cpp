#include "tessera/plan.h"

#include <algorithm>

#include "base/check.h"
#include "base/deep_trees.h"
#include "tra/plan_node.h"

namespace tessera {
namespace {

void check_components(std::string_view what, const std::vector<int>& components, int arity) {
  for (std::size_t i = 0; i < components.size(); ++i) {
    TESSERA_REQUIRE(TypeError, components[i] >= 0 && components[i] < arity,
                    "{}: key component {} does not exist: keys have {} components", what,
                    components[i], arity);
    const auto before = components.begin() + static_cast<std::ptrdiff_t>(i);
    TESSERA_REQUIRE(TypeError, std::find(components.begin(), before, components[i]) == before,
                    "{}: key component {} is listed twice", what, components[i]);
  }
}

/// Spells out "all columns", and checks the columns that are named.
std::vector<Apply> resolve(std::string_view what, std::vector<Apply> projection,
                           std::size_t columns) {
  TESSERA_REQUIRE(TypeError, !projection.empty(), "{}: at least one kernel is needed", what);
  for (Apply& apply : projection) {
    if (apply.columns.empty())
      for (std::size_t c = 0; c < columns; ++c) apply.columns.push_back(static_cast<int>(c));
    for (int column : apply.columns)
      TESSERA_REQUIRE(TypeError, column >= 0 && std::cmp_less(column, columns),
                      "{}: column {} does not exist: there are {} columns", what, column, columns);
  }
  return projection;
}

Plan make(Operator op) { return Plan(make_node(std::move(op))); }

}  // namespace

Apply Apply::column(int which, const std::string& name) {
  Apply apply;
  apply.columns = {which};
  if (!name.empty()) apply.names = {name};
  return apply;
}

std::vector<TileType> Apply::infer(Types arguments) const {
  return kernel ? kernel->infer(arguments)
                : std::vector<TileType>(arguments.begin(), arguments.end());
}

Cost Apply::cost(Types arguments) const { return kernel ? kernel->cost(arguments) : Cost{}; }

std::string Apply::to_string() const {
  return kernel ? kernel->to_string() : fmt::format("column {}", columns.front());
}

Plan Plan::input(const Relation& relation, const std::string& name) {
  return make(op::Input{name, relation.type(), relation});
}

Plan Plan::input(const RelationType& type, const std::string& name) {
  TESSERA_REQUIRE(TypeError, !type.columns.empty(),
                  "Input {}: a relation must have at least one column", name);
  for (std::int64_t extent : type.frontier)
    TESSERA_REQUIRE(TypeError, extent >= 0, "Input {}: frontier {} is negative", name,
                    to_string(type.frontier));
  for (const Column& column : type.columns) (void)column.type.shape.elements();  // checks it
  return make(op::Input{name, type, std::nullopt});
}

Plan Plan::input(const RelationType& type, TileSource source, const std::string& name) {
  (void)input(type, name);  // checks the type
  TESSERA_REQUIRE(TypeError, type.presence == Presence::continuous,
                  "Input {}: a tile source makes a tile for every key, so no key can be absent",
                  name);
  return make(op::Input{name, type, std::nullopt, std::move(source)});
}

Plan Plan::input(std::shared_ptr<const TupleSet<TileType>> tuples, TileSource source,
                 const std::string& name, const SourceFacts& facts) {
  (void)input(tuples->type, name);  // checks the type
  const RelationType type = tuples->type;
  return make(op::Input{name, type, std::nullopt, std::move(source), std::move(tuples), facts});
}

std::vector<Tile> tiles_from(const op::Input& input, const BasicTuple<TileType>& tuple) {
  std::vector<Tile> tiles = input.source(tuple.key);
  TESSERA_REQUIRE(TypeError, tiles.size() == tuple.tiles.size(),
                  "Input {}: the source returned {} tiles at key {} for {} columns", input.name,
                  tiles.size(), to_string(tuple.key), tuple.tiles.size());
  for (std::size_t c = 0; c < tiles.size(); ++c)
    TESSERA_REQUIRE(TypeError, tiles[c].type() == tuple.tiles[c],
                    "Input {}: the tile at key {} is {}, but {} was declared", input.name,
                    to_string(tuple.key), to_string(tiles[c].type()), to_string(tuple.tiles[c]));
  return tiles;
}

TupleSet<Tile> tuples_from(const op::Input& input) {
  TupleSet<Tile> made{input.type, {}};
  for_each_tuple(input, [&](const BasicTuple<TileType>& tuple) {
    made.tuples.push_back({tuple.key, tiles_from(input, tuple)});
  });
  if (input.listing) made.absent_types = input.listing->absent_types;
  return made;
}

void for_each_tuple(const op::Input& input,
                    const std::function<void(const BasicTuple<TileType>&)>& visit) {
  if (input.listing) {
    for (const BasicTuple<TileType>& tuple : input.listing->tuples) visit(tuple);
    return;
  }
  BasicTuple<TileType> tuple{Key(input.type.frontier.size(), 0), {}};
  for (const Column& column : input.type.columns) tuple.tiles.push_back(column.type);
  for (std::int64_t i = count_below(input.type.frontier); i > 0; --i) {
    visit(tuple);
    advance(tuple.key, input.type.frontier);
  }
}

Plan Plan::aggregate(const std::vector<int>& group_by, const KernelCall& kernel) const {
  return aggregate(group_by, std::vector<KernelCall>(type().columns.size(), kernel));
}

Plan Plan::aggregate(const std::vector<int>& group_by,
                     const std::vector<KernelCall>& kernels) const {
  check_components("Aggregate", group_by, type().arity());
  TESSERA_REQUIRE(TypeError, kernels.size() == type().columns.size(),
                  "Aggregate: {} kernels are given for the {} columns of {}", kernels.size(),
                  type().columns.size(), to_string(type()));
  return make(op::Aggregate{*this, group_by, kernels});
}

Plan Plan::join(const Plan& right, const std::vector<int>& left_keys,
                const std::vector<int>& right_keys, const Apply& projection) const {
  return join(right, left_keys, right_keys, std::vector<Apply>{projection});
}

Plan Plan::join(const Plan& right, const std::vector<int>& left_keys,
                const std::vector<int>& right_keys, const std::vector<Apply>& projection) const {
  check_components("Join, left keys", left_keys, type().arity());
  check_components("Join, right keys", right_keys, right.type().arity());
  TESSERA_REQUIRE(TypeError, left_keys.size() == right_keys.size(),
                  "Join: {} key components on the left, {} on the right", left_keys.size(),
                  right_keys.size());
  const std::size_t columns = type().columns.size() + right.type().columns.size();
  return make(op::Join{*this, right, left_keys, right_keys, resolve("Join", projection, columns)});
}

Plan Plan::rekey(const KeyFunction& function) const {
  TESSERA_REQUIRE(TypeError, function.is_opaque() || function.input_arity() <= type().arity(),
                  "ReKey {}: key component k{} does not exist: keys have {} components",
                  function.to_string(), function.input_arity() - 1, type().arity());
  return make(op::ReKey{*this, function});
}

Plan Plan::filter(const KeyPredicate& predicate) const {
  TESSERA_REQUIRE(TypeError, predicate.is_opaque() || predicate.arity() <= type().arity(),
                  "Filter {}: key component k{} does not exist: keys have {} components",
                  predicate.to_string(), predicate.arity() - 1, type().arity());
  return make(op::Filter{*this, predicate});
}

Plan Plan::transform(const Apply& projection) const {
  return transform(std::vector<Apply>{projection});
}

Plan Plan::transform(const std::vector<Apply>& projection) const {
  return make(op::Transform{*this, resolve("Transform", projection, type().columns.size())});
}

Plan Plan::tile(int dimension, std::int64_t size) const {
  TESSERA_REQUIRE(TypeError, size > 0, "Tile: size {} is not positive", size);
  std::int64_t extent = 0;
  for (const Column& column : type().columns) {
    const Shape& shape = column.type.shape;
    TESSERA_REQUIRE(TypeError, dimension >= 0 && dimension < shape.rank(),
                    "Tile: dimension {} does not exist in {}", dimension, to_string(column.type));
    extent = std::max(extent, shape[dimension]);
  }
  const std::int64_t pieces = std::max<std::int64_t>(1, (extent + size - 1) / size);
  return make(op::Tile{*this, dimension, size, pieces});
}

Plan Plan::concat(int key_component, int dimension) const {
  check_components("Concat", {key_component}, type().arity());
  for (const Column& column : type().columns)
    TESSERA_REQUIRE(TypeError, dimension >= 0 && dimension < column.type.shape.rank(),
                    "Concat: dimension {} does not exist in {}", dimension, to_string(column.type));
  return make(op::Concat{*this, key_component, dimension});
}

const RelationType& Plan::type() const { return node_->type; }
Plan::Cardinality Plan::cardinality() const { return node_->cardinality; }
const Closedness& Plan::closedness() const { return node_->closedness; }
const Operator& operator_of(const Plan& plan) { return plan.node().op; }

std::vector<Plan> inputs_of(const Operator& op) {
  return std::visit(
      []<class Op>(const Op& node) -> std::vector<Plan> {
        if constexpr (std::is_same_v<Op, op::Input>)
          return {};
        else if constexpr (std::is_same_v<Op, op::Join>)
          return {node.left, node.right};
        else
          return {node.input};
      },
      op);
}

std::vector<Plan> in_order(const Plan& root) { return in_order(std::vector<Plan>{root}); }

std::vector<Plan> in_order(const std::vector<Plan>& roots) {
  return inputs_first(roots, [](const Plan& plan) { return inputs_of(operator_of(plan)); });
}

Plan::Node::~Node() {
  release_inputs(*this, [](Node& node, std::vector<std::shared_ptr<const Node>>& into) {
    std::visit(
        [&]<class Op>(Op& holds) {
          if constexpr (std::is_same_v<Op, op::Join>) {
            into.push_back(std::move(holds.left.node_));
            into.push_back(std::move(holds.right.node_));
          } else if constexpr (!std::is_same_v<Op, op::Input>) {
            into.push_back(std::move(holds.input.node_));
          }
        },
        node.op);
  });
}

}  // namespace tessera
