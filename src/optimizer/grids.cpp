#include "optimizer/grids.h"

#include <algorithm>

namespace tessera::optimizer {
namespace {

using Extents = std::vector<int>;

/// The extents of an axis that are worth trying: all of them, or only those of which a shorter one
/// would leave more tuples together.
std::vector<int> extents_of(std::int64_t tuples, std::int64_t most, bool all) {
  std::vector<int> result;
  const auto together = [&](std::int64_t extent) { return (tuples + extent - 1) / extent; };
  for (std::int64_t e = 1; e <= std::max<std::int64_t>(1, most); ++e)
    if (all || e == 1 || together(e) < together(e - 1)) result.push_back(static_cast<int>(e));
  return result;
}

/// One extent for each component, of those to try, whose product is at most `sites`.
void enumerate(const std::vector<Extents>& to_try, int sites, Extents& so_far,
               std::vector<Extents>& into) {
  if (so_far.size() == to_try.size()) {
    into.push_back(so_far);
    return;
  }
  for (int extent : to_try[so_far.size()]) {
    if (extent > sites) break;
    so_far.push_back(extent);
    enumerate(to_try, sites / extent, so_far, into);
    so_far.pop_back();
  }
}

std::vector<Extents> enumerate(const std::vector<Extents>& to_try, int sites) {
  std::vector<Extents> all;
  Extents none;
  enumerate(to_try, sites, none, all);
  return all;
}

/// Whether an axis could have the next extent to try.
bool has_room(const Extents& extents, const std::vector<Extents>& to_try, int sites) {
  int used = 1;
  for (int extent : extents) used *= extent;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const auto next = std::upper_bound(to_try[i].begin(), to_try[i].end(), extents[i]);
    if (next != to_try[i].end() && used / extents[i] * *next <= sites) return true;
  }
  return false;
}

/// The largest set of extents that is not too large: beyond what there is to split, so that sums
/// have more owners; up to that; without those that leave as much together as a shorter one; and
/// of these only the ones that leave no room.
std::vector<Extents> extents_to_try(const Key& frontier, int sites, std::size_t most) {
  std::vector<Extents> steps, within, beyond;
  for (std::int64_t extent : frontier) {
    const std::int64_t longest = std::min<std::int64_t>(extent, sites);
    steps.push_back(extents_of(extent, longest, false));
    within.push_back(extents_of(extent, longest, true));
    beyond.push_back(extents_of(extent, sites, true));
  }
  std::vector<Extents> result = enumerate(steps, sites);
  if (result.size() > most) {
    std::erase_if(result, [&](const Extents& e) { return has_room(e, steps, sites); });
    return result;
  }
  for (const std::vector<Extents>& more : {within, beyond}) {
    std::vector<Extents> all = enumerate(more, sites);
    if (all.size() > most) break;
    result = std::move(all);
  }
  return result;
}

/// Extents beyond what there is to split for the components that are summed over, the others in
/// steps: sites that have no products still own sums. None if there are too many.
std::vector<Extents> longer_extents(const Key& frontier, int sites, const std::vector<int>& summed,
                                    std::size_t most) {
  std::vector<Extents> to_try;
  bool any = false;
  for (std::size_t c = 0; c < frontier.size(); ++c) {
    const bool sum = std::find(summed.begin(), summed.end(), static_cast<int>(c)) != summed.end();
    to_try.push_back(
        extents_of(frontier[c], sum ? sites : std::min<std::int64_t>(frontier[c], sites), sum));
    if (sum) std::erase_if(to_try.back(), [&](int extent) { return extent <= frontier[c]; });
    any = any || sum;
  }
  if (!any) return {};
  std::vector<Extents> all = enumerate(to_try, sites);
  if (all.size() > most) all.clear();
  return all;
}

}  // namespace

std::vector<Placement> grids(const Key& frontier, int sites, std::size_t most,
                             const std::vector<int>& last) {
  const std::vector<Extents> all = extents_to_try(frontier, sites, most);
  std::vector<Placement> result;
  std::vector<int> components(frontier.size());
  for (std::size_t i = 0; i < components.size(); ++i) components[i] = static_cast<int>(i);
  for (const Extents& extents : all) result.push_back(Placement::grid(components, extents, sites));
  const auto before = [](const Axis& a, const Axis& b) {
    return a.digits.front().component < b.digits.front().component;
  };
  const auto is_last = [&](const Axis& axis) {
    return std::find(last.begin(), last.end(), axis.digits.front().component) != last.end();
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::vector<Axis> axes = result[i].axes();
    if (all.size() * 3 <= most) {
      while (std::next_permutation(axes.begin(), axes.end(), before))
        result.emplace_back(axes, sites);
    } else {
      std::stable_partition(axes.begin(), axes.end(), [&](const Axis& a) { return !is_last(a); });
      if (axes != result[i].axes()) result.emplace_back(axes, sites);
    }
  }
  for (const Extents& extents : longer_extents(frontier, sites, last, most / 2)) {
    std::vector<Axis> axes = Placement::grid(components, extents, sites).axes();
    std::stable_partition(axes.begin(), axes.end(), [&](const Axis& a) { return !is_last(a); });
    const Placement grid(axes, sites);
    if (std::find(result.begin(), result.end(), grid) == result.end()) result.push_back(grid);
  }
  // Several components on one axis: balanced where no grid is, as on a prime number of sites.
  if (components.size() <= 6)
    for (unsigned set = 1; set < 1u << components.size(); ++set) {
      std::vector<int> together;
      for (int c : components)
        if ((set >> c & 1u) != 0 && frontier[c] > 1) together.push_back(c);
      if (together.size() >= 2) result.push_back(Placement::part(together, frontier, sites));
    }
  return result;
}

Placement spread_out(const Placement& placement, const Key& frontier) {
  std::vector<Axis> axes = placement.axes();
  // How often each component is split already, and so how many of its values stay together.
  std::vector<std::int64_t> split(frontier.size(), 1);
  for (const Axis& axis : axes)
    if (axis.kind == Axis::Kind::split && axis.digits.size() == 1)
      split[axis.digits[0].component] *= axis.extent;
  const auto left = [&](std::size_t c) { return (frontier[c] + split[c] - 1) / split[c]; };
  for (Axis& axis : axes) {
    if (axis.kind == Axis::Kind::split) continue;
    axis.kind = Axis::Kind::split;
    std::size_t longest = 0;
    for (std::size_t c = 1; c < frontier.size(); ++c)
      if (left(c) > left(longest)) longest = c;
    const bool enough = !frontier.empty() && left(longest) >= axis.extent;
    const bool even = enough && left(longest) % axis.extent == 0;
    if (frontier.empty()) {
      axis.extent = 1;  // one tuple cannot be spread
      axis.digits = {};
    } else if (even || (enough && left(longest) >= 32 * axis.extent)) {
      axis.digits = {{static_cast<int>(longest), split[longest], 1}};
      split[longest] *= axis.extent;
    } else {
      std::int64_t stride = 1;
      for (std::size_t c = frontier.size(); c-- > 0;) {
        axis.digits.push_back({static_cast<int>(c), split[c], stride % axis.extent});
        stride = stride % axis.extent * (left(c) % axis.extent) + axis.extent;
      }
    }
  }
  return {axes, placement.sites()};
}

std::vector<Placement> bind_copies(const Placement& placement, const Key& frontier) {
  std::vector<Placement> result;
  if (!placement.has_copies()) return result;
  std::vector<std::vector<Axis>> partly{{}};
  for (const Axis& axis : placement.axes()) {
    std::vector<std::vector<Axis>> longer;
    for (const std::vector<Axis>& axes : partly) {
      longer.push_back(axes);
      longer.back().push_back(axis);
      if (axis.kind != Axis::Kind::copy) continue;
      for (std::size_t c = 0; c < frontier.size(); ++c) {
        if (frontier[c] < 2) continue;
        longer.push_back(axes);
        longer.back().push_back({axis.extent, Axis::Kind::split, {{static_cast<int>(c), 1, 1}}});
      }
    }
    partly = std::move(longer);
  }
  for (const std::vector<Axis>& axes : partly) result.emplace_back(axes, placement.sites());
  result.push_back(spread_out(placement, frontier));
  return result;
}

}  // namespace tessera::optimizer
