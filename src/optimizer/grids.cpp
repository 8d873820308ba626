#include "optimizer/grids.h"

#include <algorithm>

namespace tessera::optimizer {
namespace {

using Extents = std::vector<int>;

/// All extents, an axis for each component, whose product is at most `sites`.
void enumerate(const Key& frontier, int sites, Extents& so_far, std::vector<Extents>& into) {
  if (so_far.size() == frontier.size()) {
    into.push_back(so_far);
    return;
  }
  const auto most = static_cast<int>(std::clamp<std::int64_t>(frontier[so_far.size()], 1, sites));
  for (int extent = 1; extent <= most; ++extent) {
    so_far.push_back(extent);
    enumerate(frontier, sites / extent, so_far, into);
    so_far.pop_back();
  }
}

/// Whether an axis could be longer.
bool has_room(const Extents& extents, const Key& frontier, int sites) {
  int used = 1;
  for (int extent : extents) used *= extent;
  for (std::size_t i = 0; i < extents.size(); ++i)
    if (extents[i] < frontier[i] && used / extents[i] * (extents[i] + 1) <= sites) return true;
  return false;
}

}  // namespace

std::vector<Placement> grids(const Key& frontier, int sites, std::size_t most) {
  std::vector<Extents> all;
  Extents none;
  enumerate(frontier, sites, none, all);
  if (all.size() > most)
    std::erase_if(all, [&](const Extents& extents) { return has_room(extents, frontier, sites); });
  std::vector<Placement> result;
  std::vector<int> components(frontier.size());
  for (std::size_t i = 0; i < components.size(); ++i) components[i] = static_cast<int>(i);
  for (const Extents& extents : all) result.push_back(Placement::grid(components, extents, sites));
  if (all.size() * 3 <= most)
    for (const Extents& extents : all) {
      std::vector<Axis> axes = Placement::grid(components, extents, sites).axes();
      const auto before = [](const Axis& a, const Axis& b) {
        return a.digits.front().component < b.digits.front().component;
      };
      while (std::next_permutation(axes.begin(), axes.end(), before))
        result.emplace_back(axes, sites);
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
    } else if (even || (enough && left(longest) >= 4 * axis.extent)) {
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
