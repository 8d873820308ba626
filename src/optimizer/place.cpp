#include "optimizer/place.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "ia/plan_node.h"
#include "optimizer/algorithms.h"
#include "optimizer/search.h"

namespace tessera::optimizer {
namespace {

const ia::Join* join_of(const Skeleton& skeleton, int node) {
  return std::get_if<ia::Join>(&ia::operator_of(skeleton.nodes[node].plan));
}

/// Leaves out the placements of joins whose algorithm is disabled.
Search::Allowed allowed_by(const Skeleton& skeleton, const std::set<std::string>& disabled) {
  if (disabled.empty()) return {};
  return [&skeleton, &disabled](int node, const Placement& at) {
    return !disabled.contains(algorithm_of(*join_of(skeleton, node), at).rule);
  };
}

/// The join with the most floats in its inputs: where the choice matters most.
int costliest_join(const Skeleton& skeleton) {
  int found = -1;
  double most = -1;
  for (std::size_t v = 0; v < skeleton.nodes.size(); ++v) {
    if (join_of(skeleton, static_cast<int>(v)) == nullptr) continue;
    double floats = 0;
    for (int input : skeleton.nodes[v].inputs) {
      const RelationType& type = skeleton.nodes[input].plan.type();
      double tuple = 0;
      for (const Column& column : type.columns)
        tuple += static_cast<double>(column.type.shape.elements());
      for (std::int64_t extent : type.frontier) tuple *= static_cast<double>(extent);
      floats += tuple;
    }
    if (floats > most) {
      most = floats;
      found = static_cast<int>(v);
    }
  }
  return found;
}

std::vector<ia::Plan> found_by(Search& search, const OptimizerOptions& options) {
  const std::optional<std::vector<ia::Plan>> found = search.run();
  TESSERA_REQUIRE(PlanError, found.has_value() || options.disabled.empty(),
                  "no plan is possible with the disabled rules ({})",
                  fmt::join(options.disabled, ", "));
  TESSERA_INVARIANT(found.has_value(), "no placement was found");
  return *found;
}

bool is_input(const Skeleton::Node& node) { return node.inputs.empty(); }

/// For each node, the last one that reads it; a result is read after all others.
std::vector<int> last_readers(const Skeleton& all) {
  std::vector<int> last(all.nodes.size(), -1);
  for (std::size_t v = 0; v < all.nodes.size(); ++v)
    for (int input : all.nodes[v].inputs) last[input] = static_cast<int>(v);
  for (int root : all.roots) last[root] = static_cast<int>(all.nodes.size());
  return last;
}

/// Where to cut a list of operators into parts: each has between half of `most` and `most` of them,
/// and is cut where the fewest results are read across.
std::vector<int> cuts(const Skeleton& all, const std::vector<int>& last, std::size_t most) {
  const auto nodes = static_cast<int>(all.nodes.size()), largest = static_cast<int>(most);
  std::vector<int> crossing(all.nodes.size() + 1, 0);
  for (int v = 0; v < nodes; ++v)
    if (!is_input(all.nodes[v]) && last[v] > v) {
      ++crossing[v + 1];
      if (last[v] < nodes) --crossing[last[v] + 1];
    }
  std::partial_sum(crossing.begin(), crossing.end(), crossing.begin());
  std::vector<int> ends;
  for (int begin = 0; nodes - begin > largest; begin = ends.back()) {
    int best = begin + largest;
    for (int end = begin + largest; end > begin + largest / 2; --end)
      if (crossing[end] < crossing[best]) best = end;
    ends.push_back(best);
  }
  ends.push_back(nodes);
  return ends;
}

/// Places a plan part by part.
class PartByPart {
 public:
  PartByPart(const Skeleton& all, const OptimizerOptions& options)
      : all_(all), options_(options), last_(last_readers(all)), made_(all.nodes.size()) {}

  std::vector<ia::Plan> run(std::size_t most) {
    int begin = 0;
    for (int end : cuts(all_, last_, most)) {
      place_part(begin, end);
      parts_.push_back(end - begin);
      begin = end;
    }
    std::vector<ia::Plan> results;
    for (int root : all_.roots) results.push_back(*made_[root]);
    return results;
  }
  const std::vector<int>& parts() const { return parts_; }

 private:
  void place_part(int begin, int end) {
    Skeleton part;
    part.sites = all_.sites;
    std::vector<int> number(all_.nodes.size(), -1), whose;
    const auto add = [&](int v, Skeleton::Node node) {
      number[v] = static_cast<int>(part.nodes.size());
      part.nodes.push_back(std::move(node));
      whose.push_back(v);
    };
    for (int v = begin; v < end; ++v) {
      Skeleton::Node node{all_.nodes[v].plan};
      for (int input : all_.nodes[v].inputs) {
        if (number[input] < 0) add(input, {ia::stand_in(*made_[input]), {}, made_[input]});
        node.inputs.push_back(number[input]);
      }
      add(v, std::move(node));
    }
    for (int v = begin; v < end; ++v)
      if (last_[v] >= end) part.roots.push_back(number[v]);
    Search search(part, options_, allowed_by(part, options_.disabled));
    const std::vector<ia::Plan> found = found_by(search, options_);
    for (std::size_t r = 0; r < part.roots.size(); ++r) made_[whose[part.roots[r]]] = found[r];
  }

  const Skeleton& all_;
  const OptimizerOptions& options_;
  const std::vector<int> last_;
  std::vector<std::optional<ia::Plan>> made_;  // of results that later parts read
  std::vector<int> parts_;
};

std::string why_not(const PlanCost& other, const PlanCost& chosen, Objective objective) {
  if (other.value(objective) <= chosen.value(objective) * (1 + 1e-9)) return "costs the same";
  std::vector<std::string> reasons;
  const double moved = other.total.floats_moved, less = chosen.total.floats_moved;
  if (objective == Objective::published)
    return fmt::format("{:.3g} floats by the published cost instead of {:.3g}",
                       other.total.published, chosen.total.published);
  if (moved > less * 1.001)
    reasons.push_back(less > 0 ? fmt::format("moves {:.3g} times the floats", moved / less)
                               : std::string("moves floats where nothing needs to move"));
  double busy = 0, least = 0;
  for (const OperatorCost& own : other.operators)
    if (own.floats_moved == 0) busy += own.seconds;
  for (const OperatorCost& own : chosen.operators)
    if (own.floats_moved == 0) least += own.seconds;
  if (busy > least * 1.001)
    reasons.push_back(fmt::format("keeps the busiest site computing {:.4g} times as long",
                                  least > 0 ? busy / least : 0));
  if (reasons.empty())
    reasons.push_back(fmt::format("loads one site with {:.3g} floats instead of {:.3g}",
                                  other.total.most_loaded, chosen.total.most_loaded));
  return fmt::format("{}", fmt::join(reasons, " and "));
}

}  // namespace

PlacedPlans place(const std::vector<ia::Plan>& plans, const OptimizerOptions& options,
                  std::size_t largest_part) {
  PlacedPlans result;
  result.skeleton = skeleton_of(plans);
  if (result.skeleton.nodes.size() > largest_part) {
    PartByPart by_parts(result.skeleton, options);
    result.plans = by_parts.run(largest_part);
    result.parts = by_parts.parts();
    return result;
  }
  Search search(result.skeleton, options, allowed_by(result.skeleton, options.disabled));
  result.plans = found_by(search, options);
  result.parts = {static_cast<int>(result.skeleton.nodes.size())};
  result.join = costliest_join(result.skeleton);
  if (result.join >= 0)
    if (const auto at = search.computed_at(result.join))
      result.algorithm = algorithm_of(*join_of(result.skeleton, result.join), *at).name;
  return result;
}

std::vector<Alternative> alternatives_to(const PlacedPlans& placed, const OptimizerOptions& options,
                                         const PlanCost& chosen, const Finish& finish) {
  std::vector<Alternative> found;
  if (placed.join < 0) return found;
  const Skeleton& skeleton = placed.skeleton;
  for (const Algorithm& algorithm : join_algorithms()) {
    if (algorithm.name == placed.algorithm) continue;
    if (options.disabled.contains(algorithm.rule)) {
      found.push_back({algorithm.name, std::nullopt, "it is disabled"});
      continue;
    }
    Search search(skeleton, options, [&](int node, const Placement& at) {
      const std::string& rule = algorithm_of(*join_of(skeleton, node), at).rule;
      return node == placed.join ? rule == algorithm.rule : !options.disabled.contains(rule);
    });
    const std::optional<std::vector<ia::Plan>> plan = search.run();
    if (!plan) {
      found.push_back({algorithm.name, std::nullopt, "the keys cannot be split this way"});
      continue;
    }
    const PlanCost cost = cost_of(finish(*plan), options.machine);
    found.push_back({algorithm.name, cost, why_not(cost, chosen, options.objective)});
  }
  return found;
}

}  // namespace tessera::optimizer
