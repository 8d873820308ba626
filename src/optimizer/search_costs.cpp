#include "optimizer/search_costs.h"

#include <limits>
#include <numeric>

#include "ia/join_placement.h"
#include "ia/list_tuples.h"
#include "optimizer/cost.h"
#include "tra/plan_node.h"

namespace tessera::optimizer {

std::size_t SearchCosts::TripleHash::operator()(const Triple& t) const noexcept {
  std::size_t hash = static_cast<std::size_t>(t.node) * 0x9E3779B97F4A7C15u;
  hash = (hash ^ static_cast<std::size_t>(t.from)) * 0xBF58476D1CE4E5B9u;
  hash = (hash ^ static_cast<std::size_t>(t.to)) * 0x94D049BB133111EBu;
  return hash ^ hash >> 31;
}

SearchCosts::SearchCosts(const Skeleton& skeleton, const OptimizerOptions& options)
    : skeleton_(skeleton),
      options_(options),
      contents_(skeleton.nodes.size()),
      floats_(skeleton.nodes.size(), 0),
      tuple_floats_(skeleton.nodes.size(), 0) {
  for (std::size_t v = 0; v < skeleton.nodes.size(); ++v) {
    const ia::Plan& plan = skeleton.nodes[v].plan;
    tuple_floats_[v] = ia::floats_of(plan.type().columns);
    if (counts_by_kinds(plan.logical()))
      floats_[v] = tuple_floats_[v] * ia::estimated_tuples(plan.logical());
  }
}

int SearchCosts::number(const Placement& placement) {
  const auto [found, added] = numbers_.emplace(placement, static_cast<int>(placements_.size()));
  if (added) placements_.push_back(&found->first);
  return found->second;
}

const ia::Contents& SearchCosts::contents(int node) {
  if (!contents_[node]) {
    contents_[node] = std::make_unique<ia::Contents>(ia::contents_of(plan(node)));
    const std::vector<double>& floats = contents_[node]->floats;
    floats_[node] = std::accumulate(floats.begin(), floats.end(), 0.0);
  }
  return *contents_[node];
}

const Holders& SearchCosts::holders(int node, int place) {
  const auto [found, added] = holders_.try_emplace(Triple{node, place, 0});
  if (added) found->second = holders_of(contents(node), placement(place));
  return found->second;
}

double SearchCosts::cost(const ia::Traffic& crossing, int node, const Placement& to) {
  if (options_.objective == Objective::exact)
    return seconds_of(crossing, bytes_of_float(plan(node).type()), skeleton_.sites,
                      options_.machine);
  return crossing.total > 0 ? published_move(floats_[node], to) : 0;
}

double SearchCosts::compute(int node, int place) {
  if (options_.objective == Objective::published) return 0;
  const auto [found, added] = computes_.try_emplace(Triple{node, place, 0});
  if (!added) return found->second;
  // Joins and maps work for each tuple of their result, aggregations for each of their input.
  const bool fold = std::holds_alternative<ia::Aggregate>(ia::operator_of(plan(node)));
  const int worked = fold ? skeleton_.nodes[node].inputs[0] : node;
  return found->second = work(node, worked, placement(place));
}

double SearchCosts::work(int node, int worked, const Placement& at) {
  const Cost tuple = work_of_tuple(plan(node));
  if (tuple.flops == 0 && tuple.bytes == 0) return 0;
  const tessera::Plan& logical = plan(worked).logical();
  const bool by_kinds = counts_by_kinds(logical) && !at.is_scattered();
  const double tuples = by_kinds ? busiest_share(logical.frontier(), at) * tuples_at_a_key(logical)
                                 : busiest_share(contents(worked), at);
  return seconds_of({tuples * tuple.flops, tuples * tuple.bytes}, options_.machine);
}

ia::Traffic SearchCosts::crossing(int node, int from, int to) {
  const bool listed = ia::can_be_listed(plan(node).logical()) || placement(from).is_scattered();
  if (listed) {
    const Holders& target = holders(node, to);
    return traffic(contents(node), holders(node, from), placement(from), false, target,
                   skeleton_.sites);
  }
  Period period(frontier(node));
  period.refine(placement(from));
  period.refine(placement(to));
  const ia::Contents kinds = kinds_of_tuples(plan(node), period);
  return traffic(kinds, holders_of(kinds, placement(from)), placement(from), false,
                 holders_of(kinds, placement(to)), skeleton_.sites);
}

double SearchCosts::move(int node, int from, int to) {
  if (from == to) return 0;
  if (placement(to).is_scattered())
    return std::numeric_limits<double>::infinity();  // nothing can be sent by a list of keys
  if (placement(from).is_all()) return 0;
  const auto [found, added] = moves_.try_emplace(Triple{node, from, to});
  if (!added) return found->second;
  return found->second = cost(crossing(node, from, to), node, placement(to));
}

double SearchCosts::rough_move(int node) {
  if (floats_[node] == 0 && !counts_by_kinds(plan(node).logical())) (void)contents(node);
  const double crossing = 0.5 * floats_[node];
  if (options_.objective == Objective::published) return crossing;
  return crossing * bytes_of_float(plan(node).type()) /
         (options_.machine.link_bytes * skeleton_.sites);
}

double SearchCosts::copies(int node, int side, int from, int to) {
  const auto [found, added] = copies_[side].try_emplace(Triple{node, from, to});
  if (!added) return found->second;
  const auto& join = std::get<ia::Join>(ia::operator_of(plan(node)));
  const int input = skeleton_.nodes[node].inputs[side];
  const std::vector<int> names = ia::right_in_result(
      join.left_keys, join.right_keys, join.left.type().arity(), join.right.type().arity());
  const Placement source =
      side == 0 ? placement(from) : placement(from).renumber(names, Axis::Kind::copy);
  Period period(frontier(node));
  period.refine(source);
  period.refine(placement(to));
  const ia::Contents kinds = kinds_of_keys(frontier(node), tuple_floats_[input], period);
  const ia::Traffic crossing = traffic(kinds, holders_of(kinds, source), source, false,
                                       holders_of(kinds, placement(to)), skeleton_.sites);
  if (options_.objective == Objective::exact)
    return found->second = seconds_of(crossing, bytes_of_float(plan(input).type()), skeleton_.sites,
                                      options_.machine);
  const double floats = tuple_floats_[input] * static_cast<double>(count_below(frontier(node)));
  return found->second = crossing.total > 0 ? published_move(floats, placement(to)) : 0;
}

double SearchCosts::reduce(int node, int input_place, int partial_place, int to) {
  if (placement(to).is_scattered()) return std::numeric_limits<double>::infinity();
  // Numbered apart from moves of whole tuples.
  const auto [found, added] = moves_.try_emplace(Triple{~node, input_place, to});
  if (!added) return found->second;
  const auto& aggregate = std::get<ia::Aggregate>(ia::operator_of(plan(node)));
  const int input = skeleton_.nodes[node].inputs[0];
  double result = 0;
  if (counts_by_kinds(plan(node).logical(), plan(input).logical()) &&
      !placement(input_place).is_scattered()) {
    const SummandKinds kinds = kinds_of_summands(plan(node), plan(input), aggregate.group_by,
                                                 placement(input_place), placement(to));
    const Holders from =
        summand_holders(kinds.result, kinds.input, aggregate.group_by, placement(input_place));
    result = cost(traffic(kinds.result, from, placement(partial_place), true,
                          holders_of(kinds.result, placement(to)), skeleton_.sites),
                  node, placement(to));
  } else {
    const auto [summands, fresh] = summands_.try_emplace(Triple{node, input_place, 0});
    if (fresh)
      summands->second = summand_holders(contents(node), contents(input), aggregate.group_by,
                                         placement(input_place));
    const ia::Traffic crossing = traffic(contents(node), summands->second, placement(partial_place),
                                         true, holders(node, to), skeleton_.sites);
    result = cost(crossing, node, placement(to));
  }
  if (options_.objective == Objective::exact)
    result += work(node, node, placement(to));  // the second aggregation
  return found->second = result;
}

}  // namespace tessera::optimizer
