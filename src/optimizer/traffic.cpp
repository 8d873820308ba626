#include "optimizer/traffic.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "base/stop.h"
#include "ia/list_tuples.h"
#include "tra/plan_node.h"
#include "tra/tuple_operations.h"

namespace tessera::optimizer {
namespace {

constexpr const char* planning = "comparing placements";

}  // namespace

Holders holders_of(const ia::Contents& contents, const Placement& placement) {
  Holders result;
  result.begin.reserve(contents.keys.size() + 1);
  std::vector<int> sites;
  for (const Key& key : contents.keys) {
    refuse_if_stopped(planning);
    result.begin.push_back(static_cast<std::uint32_t>(result.sites.size()));
    placement.holders(key, sites);
    result.sites.insert(result.sites.end(), sites.begin(), sites.end());
  }
  result.begin.push_back(static_cast<std::uint32_t>(result.sites.size()));
  return result;
}

Holders summand_holders(const ia::Contents& result, const ia::Contents& input,
                        const std::vector<int>& group_by, const Placement& input_placement) {
  std::unordered_map<Key, std::size_t, KeyHash> number;
  for (std::size_t i = 0; i < result.keys.size(); ++i) number[result.keys[i]] = i;
  std::vector<std::vector<int>> sites(result.keys.size());
  std::vector<int> holders;
  for (const Key& key : input.keys) {
    refuse_if_stopped(planning);
    const auto found = number.find(pick(key, group_by));
    if (found == number.end()) continue;
    input_placement.holders(key, holders);
    std::vector<int>& at = sites[found->second];
    for (int site : holders)
      if (std::find(at.begin(), at.end(), site) == at.end()) at.push_back(site);
  }
  Holders spelled;
  for (std::vector<int>& at : sites) {
    spelled.begin.push_back(static_cast<std::uint32_t>(spelled.sites.size()));
    std::sort(at.begin(), at.end());
    spelled.sites.insert(spelled.sites.end(), at.begin(), at.end());
  }
  spelled.begin.push_back(static_cast<std::uint32_t>(spelled.sites.size()));
  return spelled;
}

ia::Traffic traffic(const ia::Contents& contents, const Holders& from, const Placement& placement,
                    bool pending, const Holders& to, int sites) {
  ia::Traffic result(sites);
  std::vector<int> holders;
  std::vector<char> there(static_cast<std::size_t>(sites), 0);
  std::vector<int> missing;
  std::vector<ia::Route> sendings;
  for (std::size_t i = 0; i < from.size(); ++i) {
    refuse_if_stopped(planning);
    // Most tuples are at one site and go to one.
    const auto wanted = to.begin[i + 1] - to.begin[i];
    if (!pending && from.begin[i + 1] - from.begin[i] == 1 && wanted == 1) {
      const int source = from.sites[from.begin[i]], target = to.sites[to.begin[i]];
      if (source != target) result.add(source, target, contents.floats[i]);
      continue;
    }
    holders.assign(from.sites.begin() + from.begin[i], from.sites.begin() + from.begin[i + 1]);
    if (holders.empty()) continue;
    const auto send = [&](const std::vector<int>& same) {
      for (int site : same) there[site] = 1;
      missing.clear();
      for (std::uint32_t t = to.begin[i]; t < to.begin[i + 1]; ++t)
        if (there[to.sites[t]] == 0) missing.push_back(to.sites[t]);
      for (int site : same) there[site] = 0;
      ia::routes(same, missing, sendings);
      for (const ia::Route& route : sendings) result.add(route.from, route.to, contents.floats[i]);
    };
    if (!pending)
      send(holders);
    else
      for (const std::vector<int>& same : ia::summands_at(placement, holders, true)) send(same);
  }
  return result;
}

void Period::refine(const Placement& placement) {
  for (const Axis& axis : placement.axes())
    for (const Digit& digit : axis.digits) {
      std::int64_t& period = of[digit.component];
      period = std::lcm(period, digit.divisor * axis.extent);
    }
}

SummandKinds kinds_of_summands(const ia::Plan& result, const ia::Plan& input,
                               const std::vector<int>& group_by, const Placement& from,
                               const Placement& to) {
  Period own(result.type().frontier), all(input.type().frontier);
  own.refine(to);
  all.refine(from);
  for (std::size_t i = 0; i < group_by.size(); ++i)
    own.of[i] = all.of[group_by[i]] = std::lcm(own.of[i], all.of[group_by[i]]);
  return {kinds_of_tuples(result, own), kinds_of_keys(input.type().frontier, 0, all)};
}

ia::Contents kinds_of_keys(const Key& frontier, double floats, const Period& period) {
  ia::Contents result;
  Key box = frontier;
  for (std::size_t c = 0; c < box.size(); ++c) box[c] = std::min(box[c], period.of[c]);
  const std::int64_t kinds = count_below(box);
  Key key(box.size(), 0);
  for (std::int64_t i = 0; i < kinds; ++i, advance(key, box)) {
    refuse_if_stopped(planning);
    double alike = 1;
    for (std::size_t c = 0; c < box.size(); ++c)
      alike *= static_cast<double>((frontier[c] - key[c] + period.of[c] - 1) / period.of[c]);
    result.keys.push_back(key);
    result.floats.push_back(floats * alike);
  }
  return result;
}

bool is_even(const Plan& logical) {
  return logical.node().uniform && logical.type().presence == Presence::continuous;
}

bool counts_by_kinds(const Plan& logical) {
  return is_even(logical) || !ia::can_be_listed(logical);
}

bool counts_by_kinds(const Plan& result, const Plan& input) {
  return (is_even(result) && is_even(input)) || !ia::can_be_listed(result) ||
         !ia::can_be_listed(input);
}

double tuples_at_a_key(const Plan& logical) {
  const auto keys = static_cast<double>(count_below(logical.frontier()));
  return is_even(logical) || keys == 0 ? 1 : ia::estimated_tuples(logical) / keys;
}

ia::Contents kinds_of_tuples(const ia::Plan& plan, const Period& period) {
  const double floats = ia::floats_of(plan.type().columns) * tuples_at_a_key(plan.logical());
  ia::Contents result = kinds_of_keys(plan.type().frontier, floats, period);
  result.exact = is_even(plan.logical());
  return result;
}

double busiest_share(const ia::Contents& contents, const Placement& placement) {
  std::vector<double> tuples(static_cast<std::size_t>(placement.sites()), 0);
  std::vector<int> holders;
  for (const Key& key : contents.keys) {
    refuse_if_stopped(planning);
    placement.holders(key, holders);
    for (int site : holders) ++tuples[site];
  }
  return *std::max_element(tuples.begin(), tuples.end());
}

double busiest_share(const Key& frontier, const Placement& placement) {
  // Components that share no axis are independent: the busiest site is busiest in each group.
  const std::size_t arity = frontier.size();
  std::vector<std::size_t> group(arity);
  for (std::size_t c = 0; c < arity; ++c) group[c] = c;
  const auto join = [&](std::size_t a, std::size_t b) {
    const std::size_t from = group[b], to = group[a];
    for (std::size_t& g : group)
      if (g == from) g = to;
  };
  for (const Axis& axis : placement.axes())
    for (const Digit& digit : axis.digits) join(axis.digits.front().component, digit.component);

  double share = 1;
  for (std::size_t g = 0; g < arity; ++g) {
    std::vector<int> to(arity, -1);
    Key box;
    for (std::size_t c = 0; c < arity; ++c)
      if (group[c] == g) {
        to[c] = static_cast<int>(box.size());
        box.push_back(frontier[c]);
      }
    if (box.empty()) continue;
    std::vector<Axis> axes;
    for (Axis axis : placement.axes()) {
      if (axis.digits.empty() || to[axis.digits.front().component] < 0) continue;
      for (Digit& digit : axis.digits) digit.component = to[digit.component];
      axes.push_back(axis);
    }
    const std::int64_t points = count_below(box);
    if (points == 0) return 0;
    if (axes.empty()) {
      share *= static_cast<double>(points);
      continue;
    }
    const Placement part(axes, placement.sites());
    Period period(box);
    period.refine(part);
    const ia::Contents kinds = kinds_of_keys(box, 1, period);
    std::vector<double> tuples(static_cast<std::size_t>(part.used()), 0);
    std::vector<int> holders;
    for (std::size_t i = 0; i < kinds.keys.size(); ++i) {
      part.holders(kinds.keys[i], holders);
      for (int site : holders) tuples[site] += kinds.floats[i];
    }
    share *= *std::max_element(tuples.begin(), tuples.end());
  }
  return share;
}

}  // namespace tessera::optimizer
