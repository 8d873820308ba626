#include "calculus/contraction_order.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

namespace tessera::calculus {
namespace {

constexpr std::size_t most_for_all_subsets = 12;
constexpr std::size_t most_in_a_part = 8;  // which is made optimal within a larger order
constexpr double never = std::numeric_limits<double>::infinity();

class Sizes {
 public:
  explicit Sizes(const ContractionProblem& problem) : problem_(problem) {}

  double of(std::uint64_t indices) const {
    double product = 1;
    for (std::uint64_t rest = indices; rest != 0; rest &= rest - 1)
      product *= problem_.extents[static_cast<std::size_t>(std::countr_zero(rest))];
    return product;
  }
  /// Each element of the product of two, and its addition if something is summed.
  double flops(std::uint64_t left, std::uint64_t right, std::uint64_t result) const {
    const std::uint64_t all = left | right;
    return of(all) * (all == result ? 1 : 2);
  }
  bool fits(std::uint64_t indices) const { return std::popcount(indices) <= problem_.most_indices; }

 private:
  const ContractionProblem& problem_;
};

/// A tree of products: leaves are operands, and what comes later is made of what came before.
struct Tree {
  struct Node {
    std::uint64_t indices = 0;
    int left = -1, right = -1;  // -1: a leaf
  };
  std::vector<Node> nodes;
  double flops = 0;
};

/// The cheapest tree over `leaves`, of which others need the indices `wanted`.
class Subsets {
 public:
  Subsets(const Sizes& sizes, std::vector<std::uint64_t> leaves, std::uint64_t wanted)
      : sizes_(sizes), leaves_(std::move(leaves)) {
    const std::size_t sets = std::size_t{1} << leaves_.size();
    std::vector<std::uint64_t> all(sets, 0);
    for (std::size_t set = 1; set < sets; ++set)
      all[set] = all[set & (set - 1)] | leaves_[static_cast<std::size_t>(std::countr_zero(set))];
    kept_.resize(sets);
    for (std::size_t set = 1; set < sets; ++set)
      kept_[set] = all[set] & (wanted | all[(sets - 1) & ~set]);
    flops_.assign(sets, never);
    split_.assign(sets, 0);
    for (std::size_t set = 1; set < sets; ++set) find(set);
  }

  double flops() const { return flops_.back(); }
  /// Appends the tree; `leaf` says which node each leaf is. Returns the root.
  int append(Tree& tree, const std::vector<int>& leaf) const {
    return append(tree, leaf, flops_.size() - 1);
  }

 private:
  void find(std::size_t set) {
    if (std::has_single_bit(set)) {
      flops_[set] = 0;
      return;
    }
    if (!sizes_.fits(kept_[set])) return;
    const std::size_t lowest = set & (~set + 1);
    for (std::size_t part = (set - 1) & set; part != 0; part = (part - 1) & set) {
      if ((part & lowest) == 0) continue;  // the other part has been seen with it
      const std::size_t rest = set & ~part;
      const double before = flops_[part] + flops_[rest];
      if (before >= flops_[set]) continue;
      const double flops = before + sizes_.flops(kept_[part], kept_[rest], kept_[set]);
      if (flops >= flops_[set]) continue;
      flops_[set] = flops;
      split_[set] = part;
    }
  }
  int append(Tree& tree, const std::vector<int>& leaf, std::size_t set) const {
    if (std::has_single_bit(set)) return leaf[static_cast<std::size_t>(std::countr_zero(set))];
    const int left = append(tree, leaf, split_[set]);
    const int right = append(tree, leaf, set & ~split_[set]);
    tree.nodes.push_back({kept_[set], left, right});
    return static_cast<int>(tree.nodes.size()) - 1;
  }

  const Sizes& sizes_;
  std::vector<std::uint64_t> leaves_;
  std::vector<std::uint64_t> kept_;  // by subset: the indices that others need
  std::vector<double> flops_;
  std::vector<std::size_t> split_;
};

/// Which pair is next, by how much larger the result is than both: of opt_einsum's greedy method.
/// A weight below 1 thinks less of what goes away.
Tree greedy(const ContractionProblem& problem, const Sizes& sizes, double weight) {
  Tree tree;
  std::vector<int> open;
  for (const std::uint64_t operand : problem.operands) {
    open.push_back(static_cast<int>(tree.nodes.size()));
    tree.nodes.push_back({operand});
  }
  while (open.size() > 1) {
    // Those that share nothing wait, as long as others do not.
    std::pair best(true, never);
    std::size_t left = 0, right = 0;
    std::uint64_t result = 0;
    for (std::size_t l = 0; l < open.size(); ++l)
      for (std::size_t r = l + 1; r < open.size(); ++r) {
        const std::uint64_t a = tree.nodes[static_cast<std::size_t>(open[l])].indices;
        const std::uint64_t b = tree.nodes[static_cast<std::size_t>(open[r])].indices;
        std::uint64_t needed = problem.output;
        for (std::size_t o = 0; o < open.size(); ++o)
          if (o != l && o != r) needed |= tree.nodes[static_cast<std::size_t>(open[o])].indices;
        const std::uint64_t made = (a | b) & needed;
        if (!sizes.fits(made)) continue;
        const double larger = sizes.of(made) - weight * (sizes.of(a) + sizes.of(b));
        const std::pair cost((a & b) == 0, larger);
        if (cost >= best) continue;
        best = cost;
        left = l;
        right = r;
        result = made;
      }
    if (best.second == never) return {{}, never};
    const std::uint64_t a = tree.nodes[static_cast<std::size_t>(open[left])].indices;
    const std::uint64_t b = tree.nodes[static_cast<std::size_t>(open[right])].indices;
    tree.flops += sizes.flops(a, b, result);
    tree.nodes.push_back({result, open[left], open[right]});
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(right));
    open[left] = static_cast<int>(tree.nodes.size()) - 1;
  }
  return tree;
}

/// The nodes below one, and itself, that are no leaves.
std::vector<std::size_t> products_below(const Tree& tree, std::size_t top) {
  std::vector<std::size_t> found;
  if (tree.nodes[top].left >= 0) found.push_back(top);
  for (std::size_t f = 0; f < found.size(); ++f)
    for (int child : {tree.nodes[found[f]].left, tree.nodes[found[f]].right})
      if (tree.nodes[static_cast<std::size_t>(child)].left >= 0)
        found.push_back(static_cast<std::size_t>(child));
  return found;
}

/// The same with each part of a few operands made optimal: below each node its largest descendants
/// are opened until there are enough, and those are ordered anew.
Tree improved(Tree tree, const Sizes& sizes) {
  const std::size_t top = tree.nodes.size() - 1;
  for (bool better = true; better;) {
    better = false;
    for (std::size_t root : products_below(tree, top)) {
      std::vector<int> leaves = {tree.nodes[root].left, tree.nodes[root].right};
      double flops = 0;
      const auto costs = [&](const Tree::Node& node) {
        return sizes.flops(tree.nodes[static_cast<std::size_t>(node.left)].indices,
                           tree.nodes[static_cast<std::size_t>(node.right)].indices, node.indices);
      };
      flops += costs(tree.nodes[root]);
      while (leaves.size() < most_in_a_part) {
        const auto largest = std::max_element(leaves.begin(), leaves.end(), [&](int a, int b) {
          const auto of = [&](int n) {
            const Tree::Node& node = tree.nodes[static_cast<std::size_t>(n)];
            return node.left < 0 ? -1.0 : costs(node);
          };
          return of(a) < of(b);
        });
        const Tree::Node open = tree.nodes[static_cast<std::size_t>(*largest)];
        if (open.left < 0) break;
        flops += costs(open);
        *largest = open.left;
        leaves.push_back(open.right);
      }
      std::vector<std::uint64_t> indices;
      for (int leaf : leaves) indices.push_back(tree.nodes[static_cast<std::size_t>(leaf)].indices);
      const Subsets part(sizes, indices, tree.nodes[root].indices);
      if (!(part.flops() < flops * (1 - 1e-9))) continue;
      tree.flops += part.flops() - flops;
      const int made = part.append(tree, leaves);
      const Tree::Node replacement = tree.nodes[static_cast<std::size_t>(made)];
      tree.nodes.pop_back();  // the root stays where it is
      tree.nodes[root] = replacement;
      better = true;
      break;
    }
  }
  return tree;
}

ContractionOrder in_steps(const Tree& tree, int root, std::size_t operands) {
  ContractionOrder order{{}, tree.flops};
  const auto visit = [&](const auto& self, int n) -> int {
    const Tree::Node& node = tree.nodes[static_cast<std::size_t>(n)];
    if (node.left < 0) return n;
    const int left = self(self, node.left), right = self(self, node.right);
    order.steps.push_back({left, right});
    return static_cast<int>(operands + order.steps.size()) - 1;
  };
  visit(visit, root);
  return order;
}

}  // namespace

std::optional<ContractionOrder> cheapest_order(const ContractionProblem& given) {
  ContractionProblem problem = given;
  for (std::size_t o = 0; o < given.operands.size(); ++o) {
    std::uint64_t needed = given.output;
    for (std::size_t other = 0; other < given.operands.size(); ++other)
      if (other != o) needed |= given.operands[other];
    problem.operands[o] &= needed;
  }
  const Sizes sizes(problem);
  const std::size_t count = problem.operands.size();
  if (count < 2) return ContractionOrder{};
  Tree tree;
  if (count <= most_for_all_subsets) {
    for (const std::uint64_t operand : problem.operands) tree.nodes.push_back({operand});
    const Subsets all(sizes, problem.operands, problem.output);
    if (all.flops() == never) return std::nullopt;
    tree.flops = all.flops();
    std::vector<int> leaves(count);
    std::iota(leaves.begin(), leaves.end(), 0);
    const int root = all.append(tree, leaves);
    return in_steps(tree, root, count);
  }
  tree.flops = never;
  std::size_t root = 0;
  for (const double weight : {1.0, 0.5, 0.0, 2.0}) {
    Tree other = greedy(problem, sizes, weight);
    if (other.flops == never) continue;
    const std::size_t last = other.nodes.size() - 1;
    other = improved(std::move(other), sizes);
    if (other.flops >= tree.flops) continue;
    tree = std::move(other);
    root = last;
  }
  if (tree.flops == never) return std::nullopt;
  return in_steps(tree, static_cast<int>(root), count);
}

}  // namespace tessera::calculus
