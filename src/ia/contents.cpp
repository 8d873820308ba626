#include "ia/contents.h"

#include "base/check.h"
#include "base/stop.h"
#include "ia/list_tuples.h"
#include "tra/plan_node.h"
#include "tra/tuple_set.h"

namespace tessera::ia {
namespace {

constexpr const char* listing = "tuples were listed";

void check_listable(const tessera::Plan& plan, std::int64_t tuples) {
  TESSERA_REQUIRE(
      PlanError, tuples <= contents_limit,
      "{}: {} tuples are too many to place one by one (the maximum is {}); use larger tiles",
      tessera::describe(tessera::operator_of(plan)), tuples, contents_limit);
}

/// All keys below the frontier of a plan.
Contents box(const tessera::Plan& plan, bool exact) {
  Contents result;
  result.exact = exact;
  const Key& frontier = plan.frontier();
  const std::int64_t tuples = count_below(frontier);
  check_listable(plan, tuples);
  const double floats = floats_of(plan.type().columns);
  Key key(frontier.size(), 0);
  for (std::int64_t i = 0; i < tuples; ++i, advance(key, frontier)) {
    refuse_if_stopped(listing);
    result.keys.push_back(key);
  }
  result.floats.assign(result.keys.size(), floats);
  return result;
}

double floats_of(const std::vector<TileType>& types) {
  double sum = 0;
  for (const TileType& type : types) sum += static_cast<double>(type.shape.elements());
  return sum;
}

}  // namespace

double floats_of(const std::vector<Column>& columns) {
  double sum = 0;
  for (const Column& column : columns) sum += static_cast<double>(column.type.shape.elements());
  return sum;
}

bool can_be_listed(const tessera::Plan& logical) {
  const tessera::Plan::Node& node = logical.node();
  if (node.pilot || count_below(node.type.frontier) <= contents_limit) return true;
  const bool simple = node.uniform && node.type.presence == Presence::continuous;
  return !simple && list_tuples(logical) != nullptr;
}

Contents contents_of(const tessera::Plan& logical) {
  const tessera::Plan::Node& node = logical.node();
  const bool simple = node.uniform && node.type.presence == Presence::continuous;
  if (simple && !node.pilot) return box(logical, true);
  const auto listing = list_tuples(logical);
  if (!listing) return box(logical, false);
  Contents result;
  for (const auto& tuple : listing->tuples) {
    result.keys.push_back(tuple.key);
    result.floats.push_back(floats_of(tuple.tiles));
  }
  return result;
}

Contents contents_of(const Plan& plan) {
  const tessera::Plan& logical = plan.logical();
  const bool filled =
      logical.type().presence == Presence::sparse && plan.type().presence != Presence::sparse;
  if (!filled || !logical.node().pilot) return contents_of(logical);
  check_listable(logical, count_below(logical.frontier()));
  const TypesAt types = types_everywhere(*logical.node().pilot);
  Contents result;
  Key key(logical.frontier().size(), 0);
  do {
    refuse_if_stopped(listing);
    result.keys.push_back(key);
    result.floats.push_back(floats_of(types(key)));
  } while (advance(key, logical.frontier()));
  return result;
}

}  // namespace tessera::ia
