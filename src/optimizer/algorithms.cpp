#include "optimizer/algorithms.h"

#include <algorithm>

#include "optimizer/join_of_copies.h"

namespace tessera::optimizer {
namespace {

enum Index {
  at_one_site,
  broadcast_left,
  broadcast_right,
  shuffle_both,
  replicated,
  grid,
  split_sums,
  copies
};

}  // namespace

const std::vector<Algorithm>& join_algorithms() {
  static const std::vector<Algorithm> all = {
      {"one_site", "at one site"},
      {"broadcast_left", "broadcast left (BMM)"},
      {"broadcast_right", "broadcast right (BMM)"},
      {"shuffle_both", "shuffle both on the join keys (CMM)"},
      {"replicated_multiply", "shuffle copies of both (RMM)"},
      {"grid_multiply", "grid (SUMMA)"},
      {"two_and_a_half_d", "grid with split sums (2.5-D)"},
      {"copies", "copies everywhere"},
  };
  return all;
}

const Algorithm& algorithm_of(const ia::Join& join, const Placement& at) {
  const int left_arity = join.left.type().arity();
  const Components components = components_of(join);
  // Along a component of one value nothing is split: such an axis only numbers the sites.
  const auto splits = [&](int component) {
    const int of_left = components.left[component], of_right = components.right[component];
    return (of_left < 0 || join.left.type().frontier[of_left] > 1) &&
           (of_right < 0 || join.right.type().frontier[of_right] > 1);
  };
  bool left = false, right = false, joined = false, copied = false, mixed = false;
  for (const Axis& axis : at.axes()) {
    copied = copied || axis.kind == Axis::Kind::copy;
    bool of_left = false, of_right = false;
    for (const Digit& digit : axis.digits) {
      if (!splits(digit.component)) continue;
      const bool key = std::find(join.left_keys.begin(), join.left_keys.end(), digit.component) !=
                       join.left_keys.end();
      joined = joined || key;
      of_left = of_left || (!key && digit.component < left_arity);
      of_right = of_right || digit.component >= left_arity;
    }
    left = left || of_left;
    right = right || of_right;
    mixed = mixed || (of_left && of_right);
  }
  const auto named = [](Index i) -> const Algorithm& { return join_algorithms()[i]; };
  if (mixed) return named(replicated);
  if (joined) return named(left || right ? split_sums : shuffle_both);
  if (left && right) return named(grid);
  if (right) return named(broadcast_left);
  if (left) return named(broadcast_right);
  return named(copied ? copies : at_one_site);
}

}  // namespace tessera::optimizer
