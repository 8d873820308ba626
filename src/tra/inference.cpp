#include <algorithm>
#include <unordered_map>

#include "base/check.h"
#include "tra/evaluate.h"
#include "tra/plan_node.h"

namespace tessera {
namespace {

constexpr std::int64_t pilot_limit = 1'000'000;  // tuples that are listed one by one

/// What follows from the bounds alone, as if every input had no holes and tiles of equal shape.
struct ClosedForm {
  std::vector<Column> columns = {};
  Key frontier = {};
  bool uniform = true;
};

std::vector<Column> infer_fold(const Operator& op, const op::Aggregate& aggregate) {
  const std::vector<Column>& columns = aggregate.input.type().columns;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const KernelCall& kernel = aggregate.kernels[c];
    const TileType& type = columns[c].type;
    const std::vector<TileType> folded = kernel.infer(std::vector<TileType>{type, type});
    TESSERA_REQUIRE(
        TypeError,
        folded.size() == 1 && folded[0].dtype == type.dtype && folded[0].shape == type.shape,
        "{}: an aggregation folds {} and {} to the same type, but {} gives {}", describe(op),
        to_string(type), to_string(type), kernel.to_string(),
        folded.empty() ? "nothing" : to_string(folded[0]));
  }
  return columns;
}

std::int64_t smaller(std::int64_t a, std::int64_t b) {
  if (a == unknown_extent) return b;
  return b == unknown_extent ? a : std::min(a, b);
}

ClosedForm infer_closed_form(const Operator& op, bool with_columns) {
  struct Rules {
    const Operator& op;
    bool with_columns;

    std::vector<Column> project(const std::vector<Apply>& projection,
                                const std::vector<Column>& columns) const {
      return with_columns ? project_types(op, projection, columns) : std::vector<Column>{};
    }

    ClosedForm operator()(const op::Input& input) const {
      bool uniform = true;
      const auto look_at = [&](const auto& tuples) {
        for (const auto& tuple : tuples)
          for (std::size_t c = 0; c < tuple.tiles.size(); ++c)
            uniform = uniform && type_of(tuple.tiles[c]) == input.type.columns[c].type;
      };
      if (input.relation) look_at(input.relation->tuples());
      if (input.listing) look_at(input.listing->tuples);
      return {input.type.columns, input.type.frontier, uniform};
    }
    ClosedForm operator()(const op::Aggregate& aggregate) const {
      ClosedForm result{infer_fold(op, aggregate), {}, true};
      for (int i : aggregate.group_by) result.frontier.push_back(aggregate.input.frontier()[i]);
      return result;
    }
    ClosedForm operator()(const op::Join& join) const {
      std::vector<Column> columns = join.left.type().columns;
      const std::vector<Column>& right = join.right.type().columns;
      columns.insert(columns.end(), right.begin(), right.end());
      ClosedForm result{project(join.projection, columns), join.left.frontier(), true};
      for (std::size_t i = 0; i < join.left_keys.size(); ++i) {
        std::int64_t& extent = result.frontier[join.left_keys[i]];
        extent = smaller(extent, join.right.frontier()[join.right_keys[i]]);
      }
      for (int i = 0; i < join.right.type().arity(); ++i)
        if (std::find(join.right_keys.begin(), join.right_keys.end(), i) == join.right_keys.end())
          result.frontier.push_back(join.right.frontier()[i]);
      return result;
    }
    ClosedForm operator()(const op::ReKey& rekey) const {
      return {rekey.input.type().columns,
              Key(static_cast<std::size_t>(rekey.function.output_arity()), unknown_extent), true};
    }
    ClosedForm operator()(const op::Filter& filter) const {
      return {filter.input.type().columns, filter.input.frontier(), true};
    }
    ClosedForm operator()(const op::Transform& transform) const {
      return {project(transform.projection, transform.input.type().columns),
              transform.input.frontier(), true};
    }
    ClosedForm operator()(const op::Tile& tile) const {
      ClosedForm result{tile.input.type().columns, tile.input.frontier(), true};
      result.frontier.push_back(tile.pieces);
      for (Column& column : result.columns) {
        std::int64_t& extent = column.type.shape[tile.dimension];
        result.uniform = result.uniform && extent == tile.size * tile.pieces;
        extent = std::min(extent, tile.size);
      }
      return result;
    }
    ClosedForm operator()(const op::Concat& concat) const {
      ClosedForm result{concat.input.type().columns, {}, true};
      const Key& frontier = concat.input.frontier();
      for (int i = 0; i < concat.input.type().arity(); ++i)
        if (i != concat.key_component) result.frontier.push_back(frontier[i]);
      for (Column& column : result.columns) {
        std::int64_t& extent = column.type.shape[concat.dimension];
        const std::int64_t count = std::max<std::int64_t>(0, frontier[concat.key_component]);
        std::int64_t joined = 0;
        const bool overflow = __builtin_mul_overflow(extent, count, &joined);
        TESSERA_REQUIRE(TypeError, !overflow,
                        "{}: {} arrays of {} are more than 2^63 elements long", describe(op), count,
                        to_string(column.type));
        extent = joined;
      }
      return result;
    }
  };
  return std::visit(Rules{op, with_columns}, op);
}

bool is_simple(const Plan& plan) {
  return plan.node().uniform && plan.type().presence == Presence::continuous;
}

std::int64_t known_count(const Key& frontier) {
  const bool unknown =
      std::find(frontier.begin(), frontier.end(), unknown_extent) != frontier.end();
  return unknown ? pilot_limit + 1 : count_below(frontier);
}

/// Integrity of a relation without holes, or whose missing tiles are zeros.
Closedness closed_box(const Key& frontier) { return decide_closedness(KeySet::box(frontier)); }

/// Integrity of keys that are listed one by one.
Closedness closed_list(const TupleSet<TileType>& set) {
  Closedness result;
  result.method = "enumeration";
  result.unique.answer = result.non_negative.answer = Answer::yes;
  result.frontier = set.type.frontier;
  result.frontier_known = true;
  result.cardinality = static_cast<std::int64_t>(set.tuples.size());
  const auto hole = first_hole(set.tuples, set.type.frontier);
  result.continuous.answer = hole ? Answer::no : Answer::yes;
  if (hole) {
    result.continuous.key = *hole;
    result.continuous.reason = fmt::format("key {} below the frontier {} is missing",
                                           to_string(*hole), to_string(set.type.frontier));
  }
  return result;
}

/// The keys of a filter or a key function over keys that are described by expressions.
std::optional<KeySet> symbolic_keys(const Operator& op) {
  if (const auto* filter = std::get_if<op::Filter>(&op))
    if (filter->input.node().keys) return filter->input.node().keys->filter(filter->predicate);
  if (const auto* rekey = std::get_if<op::ReKey>(&op))
    if (rekey->input.node().keys) return rekey->input.node().keys->rekey(rekey->function);
  return std::nullopt;
}

bool changes_keys(const Operator& op) {
  return std::holds_alternative<op::Filter>(op) || std::holds_alternative<op::ReKey>(op);
}

/// The result listed tuple by tuple, if the inputs can be and the result is not too large.
std::shared_ptr<const TupleSet<TileType>> make_pilot(const Operator& op, const RelationType& type) {
  if (const auto* input = std::get_if<op::Input>(&op))
    return input->relation ? std::make_shared<TupleSet<TileType>>(types_of(*input->relation))
                           : input->listing;
  if (!changes_keys(op) && known_count(type.frontier) > pilot_limit) return nullptr;
  std::vector<std::shared_ptr<const TupleSet<TileType>>> owned;
  std::vector<const TupleSet<TileType>*> inputs;
  for (const Plan& input : inputs_of(op)) {
    owned.push_back(listed(input));
    if (!owned.back()) return nullptr;
    inputs.push_back(owned.back().get());
  }
  return std::make_shared<TupleSet<TileType>>(evaluate<TileType>(op, inputs, type));
}

/// The types of all tiles of a column, those of zeros that are not stored included.
std::vector<TileType> column_types(const TupleSet<TileType>& set, std::size_t column) {
  std::vector<TileType> types;
  for (const auto& tuple : set.tuples) types.push_back(tuple.tiles[column]);
  if (set.type.presence != Presence::sparse) return types;
  if (count_below(set.type.frontier) == static_cast<std::int64_t>(set.tuples.size())) return types;
  const TypesAt everywhere = types_everywhere(set);
  Key key(set.type.frontier.size(), 0);
  do {
    types.push_back(everywhere(key)[column]);
  } while (advance(key, set.type.frontier));
  return types;
}

/// Takes from a listing what the closed form can only bound.
void refine(Plan::Node& node, const TupleSet<TileType>& pilot) {
  node.type.frontier = pilot.type.frontier;
  node.type.presence = pilot.type.presence;
  node.uniform = true;
  const bool listable = known_count(pilot.type.frontier) <= pilot_limit;
  for (std::size_t c = 0; c < node.type.columns.size() && listable; ++c) {
    const std::vector<TileType> types = column_types(pilot, c);
    if (types.empty()) continue;
    TileType bound = types.front();
    for (const TileType& type : types) {
      for (int d = 0; d < bound.shape.rank(); ++d)
        bound.shape[d] = std::max(bound.shape[d], type.shape[d]);
      if (type.sparse_dims != bound.sparse_dims) bound.sparse_dims = 0;
    }
    node.uniform = node.uniform && std::all_of(types.begin(), types.end(),
                                               [&](const TileType& type) { return type == bound; });
    node.type.columns[c].type = bound;
  }
  node.cardinality = {static_cast<std::int64_t>(pilot.tuples.size()), true};
  auto typed = std::make_shared<TupleSet<TileType>>(pilot);
  typed->type = node.type;
  node.pilot = std::move(typed);
}

/// The columns of a projection that fits every tuple though it does not fit the bounds.
std::vector<Column> listed_columns(const Operator& op, const TupleSet<TileType>& pilot) {
  std::vector<Column> columns;
  const std::vector<TileType> types = pilot.tuples.empty()
                                          ? pilot.absent_types(Key(pilot.type.frontier.size(), 0))
                                          : pilot.tuples.front().tiles;
  for (const TileType& type : types) columns.push_back({"", type});
  const auto* join = std::get_if<op::Join>(&op);
  const auto* transform = std::get_if<op::Transform>(&op);
  TESSERA_INVARIANT(join != nullptr || transform != nullptr, "{}", describe(op));
  std::size_t next = 0;
  for (const Apply& apply : join != nullptr ? join->projection : transform->projection)
    for (const std::string& name : apply.names) columns[next++].name = name;
  return columns;
}

/// Nothing comes of nothing: with an empty input every operator yields an empty relation.
bool is_empty(const Plan& plan) {
  const bool zeros = plan.type().presence == Presence::sparse && count_below(plan.frontier()) > 0;
  return !zeros && plan.cardinality().exact && plan.cardinality().tuples == 0;
}

void set_empty(Plan::Node& node) {
  node.type.frontier = Key(node.type.frontier.size(), 0);
  node.cardinality = {0, true};
  auto none = std::make_shared<TupleSet<TileType>>();
  none->type = node.type;
  node.closedness = closed_list(*none);
  node.pilot = std::move(none);
}

}  // namespace

std::shared_ptr<const TupleSet<TileType>> listed_without_limit(const Plan& plan) {
  if (plan.node().pilot) return plan.node().pilot;
  std::unordered_map<const Plan::Node*, std::shared_ptr<const TupleSet<TileType>>> lists;
  for (const Plan& node : in_order(plan)) {
    auto& list = lists[&node.node()];
    list = listed(node);
    if (list) continue;
    std::vector<const TupleSet<TileType>*> inputs;
    for (const Plan& input : inputs_of(operator_of(node)))
      inputs.push_back(lists.at(&input.node()).get());
    list = std::make_shared<TupleSet<TileType>>(
        evaluate<TileType>(operator_of(node), inputs, node.type()));
  }
  return lists.at(&plan.node());
}

std::shared_ptr<const TupleSet<TileType>> listed(const Plan& plan) {
  const Plan::Node& node = plan.node();
  if (node.pilot) return node.pilot;
  const bool simple = node.uniform && node.type.presence == Presence::continuous;
  if (!simple || count_below(node.type.frontier) > pilot_limit) return nullptr;
  auto set = std::make_shared<TupleSet<TileType>>();
  set->type = node.type;
  std::vector<TileType> types;
  for (const Column& column : node.type.columns) types.push_back(column.type);
  Key key(node.type.frontier.size(), 0);
  for (std::int64_t i = count_below(node.type.frontier); i > 0; --i) {
    set->tuples.push_back({key, types});
    for (std::size_t d = key.size(); d-- > 0;) {
      if (++key[d] < node.type.frontier[d]) break;
      key[d] = 0;
    }
  }
  return set;
}

std::vector<Column> project_types(const Operator& op, const std::vector<Apply>& projection,
                                  const std::vector<Column>& columns) {
  std::vector<Column> result;
  for (const Apply& apply : projection) {
    std::vector<TileType> arguments;
    for (int column : apply.columns) arguments.push_back(columns[column].type);
    const std::vector<TileType> outputs = apply.kernel.infer(arguments);
    TESSERA_REQUIRE(TypeError, apply.names.empty() || apply.names.size() == outputs.size(),
                    "{}: {} names for the {} outputs of {}", describe(op), apply.names.size(),
                    outputs.size(), apply.kernel.to_string());
    for (std::size_t i = 0; i < outputs.size(); ++i)
      result.push_back({apply.names.empty() ? "" : apply.names[i], outputs[i]});
  }
  return result;
}

std::shared_ptr<const Plan::Node> make_node(Operator op) {
  auto node = std::make_shared<Plan::Node>(std::move(op));
  const std::vector<Plan> inputs = inputs_of(node->op);
  const auto* input = std::get_if<op::Input>(&node->op);

  // Tiles of ragged relations may fit each other where their bounds do not: then the tuples decide.
  const bool ragged = !std::all_of(inputs.begin(), inputs.end(), is_simple);
  ClosedForm form;
  std::optional<TypeError> misfit;
  try {
    form = infer_closed_form(node->op, true);
  } catch (const TypeError& error) {
    if (!ragged) throw;
    misfit = error;
    form = infer_closed_form(node->op, false);
  }
  node->type = {std::move(form.columns), form.frontier, Presence::continuous};
  node->uniform = form.uniform;
  bool simple = form.uniform && !ragged;
  if (input != nullptr) {
    node->type.presence = input->type.presence;
    simple = simple && node->type.presence == Presence::continuous;
  }

  if (std::any_of(inputs.begin(), inputs.end(), is_empty)) {
    if (misfit) throw TypeError(*misfit);  // no tuples that could say otherwise
    set_empty(*node);
    return node;
  }

  if (changes_keys(node->op)) {
    node->keys = symbolic_keys(node->op);
    if (node->keys) {
      node->closedness = decide_closedness(*node->keys);
      if (node->closedness.frontier_known) node->type.frontier = node->closedness.frontier;
      node->cardinality = {node->closedness.cardinality, node->closedness.cardinality >= 0};
      simple = simple && node->closedness.unique.answer == Answer::yes &&
               node->closedness.continuous.answer == Answer::yes;
      // A known collision is reported by run(), which can say where; nothing follows from it.
      const bool broken = node->closedness.unique.answer == Answer::no ||
                          node->closedness.non_negative.answer == Answer::no;
      if (broken) {
        node->type.presence = Presence::partial;
        node->uniform = false;
        return node;
      }
    } else {
      simple = false;
    }
  }

  if (!simple) {
    const auto pilot = make_pilot(node->op, node->type);
    if (misfit) {
      const bool tells = pilot && (!pilot->tuples.empty() || pilot->absent_types);
      if (!tells) throw TypeError(*misfit);
      node->type.columns = listed_columns(node->op, *pilot);
    }
    if (pilot) {
      refine(*node, *pilot);
      if (!node->keys) node->closedness = closed_list(*pilot);
    } else {
      node->uniform = node->uniform && input != nullptr;
      if (input == nullptr) node->type.presence = Presence::partial;
      const std::int64_t most = known_count(node->type.frontier);
      const bool counted = node->keys && node->cardinality.tuples >= 0;
      if (!counted) node->cardinality = {most, false};
    }
  } else {
    node->cardinality = {count_below(node->type.frontier), true};
  }
  // Without holes, or with zeros for them, the keys are the box below the frontier again.
  const bool none = node->cardinality.exact && node->cardinality.tuples == 0 &&
                    node->type.presence == Presence::continuous;
  if (none) {
    set_empty(*node);
  } else if (simple || (node->pilot && node->type.presence != Presence::partial)) {
    node->keys = KeySet::box(node->type.frontier);
    node->closedness = closed_box(node->type.frontier);
    if (node->uniform && node->type.presence == Presence::continuous) node->pilot = nullptr;
  }
  return node;
}

}  // namespace tessera
