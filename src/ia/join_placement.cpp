#include "ia/join_placement.h"

#include <algorithm>

#include "base/check.h"
#include "ia/contents.h"

namespace tessera::ia {
namespace {

/// The result of a join beside an ALL, which lies where the other side lies.
Placement follow(const Join& join, bool right) {
  const Plan& side = right ? join.right : join.left;
  const std::vector<int> names = right_in_result(
      join.left_keys, join.right_keys, join.left.type().arity(), join.right.type().arity());
  if (!side.placement().is_scattered())
    return right ? side.placement().renumber(names, Axis::Kind::copy) : side.placement();

  const tessera::Plan joined = join.left.logical().join(join.right.logical(), join.left_keys,
                                                        join.right_keys, join.projection.front());
  auto table = std::make_shared<Placement::Table>();
  for (const Key& key : contents_of(joined).keys) {
    Key own(static_cast<std::size_t>(side.type().arity()), 0);
    for (std::size_t i = 0; i < own.size(); ++i) own[i] = key[right ? names[i] : i];
    (*table)[key] = side.placement().holders(own);
  }
  return Placement::scattered(std::move(table), side.sites());
}

}  // namespace

std::vector<int> right_in_result(const std::vector<int>& left_keys,
                                 const std::vector<int>& right_keys, int left_arity,
                                 int right_arity) {
  std::vector<int> names;
  int next = left_arity;
  for (int i = 0; i < right_arity; ++i) {
    const auto joined = std::find(right_keys.begin(), right_keys.end(), i);
    names.push_back(joined != right_keys.end() ? left_keys[joined - right_keys.begin()] : next++);
  }
  return names;
}

Placement join_placement(const Join& join) {
  const Placement& left = join.left.placement();
  const Placement& right = join.right.placement();
  TESSERA_REQUIRE(PlanError, left.sites() == right.sites(),
                  "Join: the left side has {} sites, the right side {}", left.sites(),
                  right.sites());
  if (left.is_all()) return follow(join, true);
  if (right.is_all()) return follow(join, false);

  const auto refuse = [&](const std::string& why) {
    return PlanError(fmt::format(
        "Join: {}: the left side is placed {}, the right side {}; shuffle or broadcast one of them",
        why, left.to_string(), right.to_string()));
  };
  if (left.is_scattered() || right.is_scattered() || left.axes().size() != right.axes().size())
    throw refuse("matching tuples may be at different sites");
  const std::vector<int> names = right_in_result(
      join.left_keys, join.right_keys, join.left.type().arity(), join.right.type().arity());
  const std::vector<Axis> moved = right.renumber(names, Axis::Kind::copy).axes();
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < moved.size(); ++i) {
    const Axis& l = left.axes()[i];
    const Axis& r = moved[i];
    const bool meet = l.extent == r.extent &&
                      (l == r || l.kind == Axis::Kind::copy || r.kind == Axis::Kind::copy);
    if (!meet) throw refuse(fmt::format("axis {} may put matching tuples at different sites", i));
    axes.push_back(l.kind == Axis::Kind::copy ? r : l);
  }
  return {axes, left.sites()};
}

}  // namespace tessera::ia
