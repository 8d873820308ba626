#include "ia/list_tuples.h"

#include <algorithm>
#include <unordered_map>

#include "ia/zeros.h"
#include "tra/evaluate.h"
#include "tra/plan_node.h"
#include "tra/tuple_operations.h"

namespace tessera::ia {
namespace {

using Listing = std::shared_ptr<const TupleSet<TileType>>;

bool is_simple(const tessera::Plan::Node& node) {
  return node.uniform && node.type.presence == Presence::continuous;
}

/// Whether nothing is left to be worked out for a plan.
bool is_decided(const tessera::Plan& plan) {
  const tessera::Plan::Node& node = plan.node();
  return node.pilot || is_simple(node) || node.listing.load() != nullptr;
}

Listing decided(const tessera::Plan& plan) {
  const std::shared_ptr<const TupleListing> known = plan.node().listing.load();
  return known ? known->tuples : listed(plan);
}

/// How many pairs of tuples join.
double count_pairs(const op::Join& join, const TupleSet<TileType>& left,
                   const TupleSet<TileType>& right) {
  std::unordered_map<Key, double, KeyHash> matches;
  for (const auto& tuple : right.tuples) ++matches[pick(tuple.key, join.right_keys)];
  double pairs = 0;
  for (const auto& tuple : left.tuples) {
    const auto found = matches.find(pick(tuple.key, join.left_keys));
    if (found != matches.end()) pairs += found->second;
  }
  return pairs;
}

double keys_below(const tessera::Plan& plan) {
  double keys = 1;
  for (std::int64_t extent : plan.frontier())
    keys *= static_cast<double>(std::max<std::int64_t>(0, extent));
  return keys;
}

/// What an operator makes of inputs with so many tuples, spread evenly.
double estimate(const tessera::Plan& plan, const std::vector<double>& inputs) {
  const tessera::Operator& op = tessera::operator_of(plan);
  if (inputs.empty()) return keys_below(plan);
  double tuples = inputs[0];
  if (const auto* tile = std::get_if<op::Tile>(&op)) tuples *= static_cast<double>(tile->pieces);
  if (const auto* join = std::get_if<op::Join>(&op)) {
    tuples *= inputs[1];
    for (std::size_t i = 0; i < join->left_keys.size(); ++i)
      tuples /=
          static_cast<double>(std::max({std::int64_t{1}, join->left.frontier()[join->left_keys[i]],
                                        join->right.frontier()[join->right_keys[i]]}));
  }
  const bool known = std::find(plan.frontier().begin(), plan.frontier().end(), unknown_extent) ==
                     plan.frontier().end();
  return known ? std::min(tuples, keys_below(plan)) : tuples;
}

/// At most how many tuples an operator makes of these inputs.
double count_results(const tessera::Operator& op, const std::vector<Listing>& inputs) {
  if (const auto* join = std::get_if<op::Join>(&op))
    return count_pairs(*join, *inputs[0], *inputs[1]);
  const auto tuples = static_cast<double>(inputs[0]->tuples.size());
  const auto* tile = std::get_if<op::Tile>(&op);
  return tile == nullptr ? tuples : tuples * static_cast<double>(tile->pieces);
}

/// An input as the operator sees it when it runs: with its zeros where it needs them, and else with
/// the tuples that there are. Null if the zeros are too many.
Listing as_read(const tessera::Plan& plan, int input, const Listing& tuples) {
  if (tuples->type.presence != Presence::sparse) return tuples;
  const bool filled = needs_zeros(plan, input);
  if (filled && count_below(tuples->type.frontier) > list_tuples_limit) return nullptr;
  auto read = std::make_shared<TupleSet<TileType>>(filled ? complete(*tuples) : *tuples);
  if (!filled) read->type.presence = Presence::partial;
  return read;
}

double count_of(const tessera::Plan& plan) {
  const tessera::Plan::Node& node = plan.node();
  if (node.pilot) return static_cast<double>(node.pilot->tuples.size());
  return is_simple(node) ? keys_below(plan) : node.listing.load()->count;
}

TupleListing work_out(const tessera::Plan& plan) {
  const tessera::Operator& op = tessera::operator_of(plan);
  const std::vector<tessera::Plan> sources = tessera::inputs_of(op);
  std::vector<double> counts;
  for (const tessera::Plan& source : sources) counts.push_back(count_of(source));
  const TupleListing unlisted{nullptr, estimate(plan, counts)};
  std::vector<Listing> inputs;
  std::vector<const TupleSet<TileType>*> read;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    Listing input = decided(sources[i]);
    if (input) input = as_read(plan, static_cast<int>(i), input);
    if (!input) return unlisted;
    inputs.push_back(std::move(input));
    read.push_back(inputs.back().get());
  }
  if (inputs.empty()) return unlisted;
  const double most = count_results(op, inputs);
  if (most > list_tuples_limit) return {nullptr, most};
  auto made = std::make_shared<TupleSet<TileType>>(evaluate<TileType>(op, read, plan.type()));
  // Readers take the result for what inference has called it.
  made->type.presence = plan.type().presence;
  const auto count = static_cast<double>(made->tuples.size());
  return {std::move(made), count};
}

}  // namespace

std::shared_ptr<const TupleSet<TileType>> list_tuples(const tessera::Plan& plan) {
  // Not recursive: plans are deep.
  std::vector<tessera::Plan> open{plan};
  while (!open.empty()) {
    const tessera::Plan next = open.back();
    const std::size_t before = open.size();
    if (!is_decided(next))
      for (const tessera::Plan& input : tessera::inputs_of(tessera::operator_of(next)))
        if (!is_decided(input)) open.push_back(input);
    if (open.size() > before) continue;
    open.pop_back();
    if (!is_decided(next))
      next.node().listing.store(std::make_shared<const TupleListing>(work_out(next)));
  }
  return decided(plan);
}

double estimated_tuples(const tessera::Plan& plan) {
  if (!is_decided(plan)) (void)list_tuples(plan);
  return count_of(plan);
}

}  // namespace tessera::ia
