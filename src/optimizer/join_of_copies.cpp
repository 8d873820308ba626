#include "optimizer/join_of_copies.h"

#include <numeric>

#include "ia/join_placement.h"

namespace tessera::optimizer {

Components components_of(const ia::Join& join) {
  const int left_arity = join.left.type().arity();
  const std::vector<int> names =
      ia::right_in_result(join.left_keys, join.right_keys, left_arity, join.right.type().arity());
  const auto arity = static_cast<std::size_t>(left_arity) + names.size() - join.left_keys.size();
  Components result{std::vector<int>(arity, -1), std::vector<int>(arity, -1)};
  for (int i = 0; i < left_arity; ++i) result.left[i] = i;
  for (std::size_t i = 0; i < names.size(); ++i) result.right[names[i]] = static_cast<int>(i);
  return result;
}

ia::Join join_of_copies(const ia::Join& join, const Placement& to) {
  const Components components = components_of(join);
  ia::Plan left = join.left, right = join.right;
  std::vector<int> right_at = components.right;
  for (std::size_t t = 0; t < components.left.size(); ++t) {
    const int position = static_cast<int>(t);
    if (components.left[t] < 0)
      left = left.duplicate(position, join.right.type().frontier[components.right[t]]);
    if (components.right[t] >= 0) continue;
    const int at = std::min(position, right.type().arity());
    for (int& other : right_at) other += other >= at ? 1 : 0;
    right_at[t] = at;
    right = right.duplicate(at, join.left.type().frontier[components.left[t]]);
  }
  ia::Join on_all = join;
  on_all.left = left.shuffle(to);
  on_all.right = right.shuffle(to.renumber(right_at, Axis::Kind::copy));
  on_all.left_keys.resize(right_at.size());
  std::iota(on_all.left_keys.begin(), on_all.left_keys.end(), 0);
  on_all.right_keys = right_at;
  return on_all;
}

}  // namespace tessera::optimizer
