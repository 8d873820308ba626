#include <algorithm>

#include "tra/closed_form.h"
#include "tra/pilot.h"

namespace tessera {
namespace {

bool is_simple(const Plan& plan) {
  return plan.node().uniform && plan.type().presence == Presence::continuous;
}

/// Integrity of a relation without holes, or whose missing tiles are zeros.
Closedness closed_box(const Key& frontier) { return decide_closedness(KeySet::box(frontier)); }

/// The keys of a filter or a key function over keys that are described by expressions.
std::optional<KeySet> symbolic_keys(const Operator& op) {
  if (const auto* filter = std::get_if<op::Filter>(&op))
    if (filter->input.node().keys) return filter->input.node().keys->filter(filter->predicate);
  if (const auto* rekey = std::get_if<op::ReKey>(&op))
    if (rekey->input.node().keys) return rekey->input.node().keys->rekey(rekey->function);
  return std::nullopt;
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
