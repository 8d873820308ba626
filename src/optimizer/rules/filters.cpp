#include "base/check.h"
#include "ia/join_placement.h"
#include "key/expression.h"
#include "key/interval.h"
#include "optimizer/rules/laws.h"
#include "optimizer/rules/rewriting.h"

// A filter wants to come first: what it takes out is neither computed nor moved.

namespace tessera::optimizer {
namespace {

const char* const not_a_filter = "it is not a filter";

/// One side of a join as a predicate over the key of the result sees it.
struct JoinSide {
  std::vector<KeyExpr> components;  // of the result's key, in terms of the side's own
  Bounds bounds;                    // of the side's own key

  /// The predicate on the side's own key, if it speaks of nothing else. A predicate that somewhere
  /// has no value stays where it is: the side has keys that find no partner, or that another
  /// condition keeps it from.
  std::optional<KeyPredicate> own(const KeyPredicate& predicate) const {
    if (predicate.is_opaque()) return std::nullopt;
    const KeyPredicate here = predicate.substitute(components);
    return !here.is_opaque() && truth(here, bounds) ? std::optional(here) : std::nullopt;
  }
};

JoinSide side_of(const ia::Join& join, bool left) {
  const int left_arity = join.left.type().arity();
  const std::vector<int> names =
      ia::right_in_result(join.left_keys, join.right_keys, left_arity, join.right.type().arity());
  const auto elsewhere = KeyExpr::opaque("elsewhere", [](const Key&) { return 0; });
  const auto arity = static_cast<std::size_t>(left_arity) + names.size() - join.left_keys.size();
  std::vector<KeyExpr> components(arity, elsewhere);
  for (int i = 0; i < left_arity && left; ++i) components[i] = key(i);
  for (std::size_t i = 0; i < names.size() && !left; ++i)
    components[names[i]] = key(static_cast<int>(i));

  Bounds bounds;
  for (std::int64_t extent : (left ? join.left : join.right).type().frontier)
    bounds.push_back(
        {0, extent == unknown_extent ? INT64_MAX : std::max<std::int64_t>(0, extent - 1)});
  // A join that renames its key is filtered by the new name.
  if (!join.keys) return {components, bounds};
  std::vector<KeyExpr> renamed;
  for (const KeyExpr& component : join.keys->components())
    renamed.push_back(component.is_opaque() ? elsewhere : component.substitute(components));
  return {renamed, bounds};
}

ia::Plan filtered(const ia::Plan& plan, const std::vector<KeyPredicate>& predicates) {
  if (predicates.empty()) return plan;
  KeyPredicate all = predicates.front();
  for (std::size_t i = 1; i < predicates.size(); ++i) all = all && predicates[i];
  return built(ia::Filter{plan, all});
}

}  // namespace

/// R1-1. Filters can be merged. The inner one is asked first: it may guard the outer one.
///   Filter(p) . Filter(q) (R)  ==  Filter(q and p) (R)
Rewrite merge_filters(const ia::Plan& plan) {
  const auto* outer = root<ia::Filter>(plan);
  if (outer == nullptr) return Rewrite::no(not_a_filter);
  const auto* inner = root<ia::Filter>(outer->input);
  if (inner == nullptr) return Rewrite::no("its input is not a filter");
  return rewritten(plan, [&] {
    return built(ia::Filter{inner->input, inner->predicate && outer->predicate});
  });
}

/// R1-3. Map and filter commute if the keys stay.
///   Filter(p) . Map(id, f) (R)  ==  Map(id, f) . Filter(p) (R)
Rewrite filter_before_map(const ia::Plan& plan) {
  const auto* filter = root<ia::Filter>(plan);
  if (filter == nullptr) return Rewrite::no(not_a_filter);
  const auto* map = root<ia::Map>(filter->input);
  if (map == nullptr) return Rewrite::no("its input is not a map");
  if (!keeps_keys(*map)) return Rewrite::no("the map changes the keys");
  return rewritten(plan, [&] {
    return built(ia::Map{built(ia::Filter{map->input, filter->predicate}), map->branches});
  });
}

/// R1-5. What is asked of a group can be asked of its members, in the names of their components.
///   Filter(p) . Agg(g, +) (R)  ==  Agg(g, +) . Filter(p . g) (R)
Rewrite filter_before_aggregation(const ia::Plan& plan) {
  const auto* filter = root<ia::Filter>(plan);
  if (filter == nullptr) return Rewrite::no(not_a_filter);
  const auto* aggregate = root<ia::Aggregate>(filter->input);
  if (aggregate == nullptr) return Rewrite::no("its input is not an aggregation");
  std::vector<KeyExpr> group;
  for (int component : aggregate->group_by) group.push_back(key(component));
  return rewritten(plan, [&] {
    ia::Aggregate after = *aggregate;
    after.input = built(ia::Filter{aggregate->input, filter->predicate.substitute(group)});
    return built(after);
  });
}

/// R1-6. A condition on one side of a join is asked of that side, one on the joined components of
/// both sides; what speaks of both at once, or cannot be looked into, stays.
///   Filter(p and q and r) . Join(R, S)  ==  Filter(r) . Join(Filter(p)(R), Filter(q)(S))
Rewrite filter_before_join(const ia::Plan& plan) {
  const auto* filter = root<ia::Filter>(plan);
  if (filter == nullptr) return Rewrite::no(not_a_filter);
  const auto* join = root<ia::Join>(filter->input);
  if (join == nullptr) return Rewrite::no("its input is not a join");
  const JoinSide left = side_of(*join, true), right = side_of(*join, false);
  std::vector<KeyPredicate> on_left, on_right, rest;
  for (const KeyPredicate& conjunct : conjuncts(filter->predicate)) {
    const auto of_left = left.own(conjunct), of_right = right.own(conjunct);
    if (of_left) on_left.push_back(*of_left);
    if (of_right) on_right.push_back(*of_right);
    if (!of_left && !of_right) rest.push_back(conjunct);
  }
  if (on_left.empty() && on_right.empty())
    return Rewrite::no(fmt::format("no part of {} reads only one side of the join",
                                   filter->predicate.to_string()));
  return rewritten(plan, [&] {
    ia::Join after = *join;
    after.left = filtered(join->left, on_left);
    after.right = filtered(join->right, on_right);
    return filtered(built(after), rest);
  });
}

/// R2-2. Filters commute with moves.
///   Filter(p) . Move (R)  ==  Move . Filter(p) (R)
Rewrite filter_before_move(const ia::Plan& plan) {
  const auto* filter = root<ia::Filter>(plan);
  if (filter == nullptr) return Rewrite::no(not_a_filter);
  if (!is_move(filter->input)) return Rewrite::no("its input is not a move");
  const ia::Plan source = inputs_of(operator_of(filter->input)).front();
  return rewritten(plan, [&] {
    return moved_as(filter->input, ia::make(ia::Filter{source, filter->predicate}, plan.logical()));
  });
}

}  // namespace tessera::optimizer
