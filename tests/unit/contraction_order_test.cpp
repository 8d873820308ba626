#include "calculus/contraction_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "support/random_tiles.h"

// Orders of products against all orders that there are, and what an order says of itself against
// its steps carried out.

namespace tessera::calculus {
namespace {

double size_of(const ContractionProblem& problem, std::uint64_t indices) {
  double size = 1;
  for (std::size_t i = 0; i < problem.extents.size(); ++i)
    if ((indices >> i & 1) != 0) size *= problem.extents[i];
  return size;
}

struct Open {
  std::vector<std::uint64_t> operands;

  /// Multiplies two; returns what it took, or -1 if the result has too many indices.
  double multiply(const ContractionProblem& problem, std::size_t a, std::size_t b) {
    const std::uint64_t both = operands[a] | operands[b];
    operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(std::max(a, b)));
    operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(std::min(a, b)));
    std::uint64_t needed = problem.output;
    for (const std::uint64_t other : operands) needed |= other;
    operands.push_back(both & needed);
    if (std::popcount(both & needed) > problem.most_indices) return -1;
    return size_of(problem, both) * (operands.back() == both ? 1 : 2);
  }
};

double least_of_all(const ContractionProblem& problem, const Open& open) {
  if (open.operands.size() == 1) return 0;
  double least = -1;
  for (std::size_t a = 0; a < open.operands.size(); ++a)
    for (std::size_t b = a + 1; b < open.operands.size(); ++b) {
      Open next = open;
      const double flops = next.multiply(problem, a, b);
      const double rest = flops < 0 ? -1 : least_of_all(problem, next);
      if (rest >= 0 && (least < 0 || flops + rest < least)) least = flops + rest;
    }
  return least;
}

/// The next pair is the one whose result is least larger than both.
double by_greed(const ContractionProblem& problem) {
  Open open{problem.operands};
  double flops = 0;
  while (open.operands.size() > 1) {
    std::pair<std::size_t, std::size_t> best;
    std::pair best_cost(true, 1e300);
    for (std::size_t a = 0; a < open.operands.size(); ++a)
      for (std::size_t b = a + 1; b < open.operands.size(); ++b) {
        Open next = open;
        (void)next.multiply(problem, a, b);
        const double larger = size_of(problem, next.operands.back()) -
                              size_of(problem, open.operands[a]) -
                              size_of(problem, open.operands[b]);
        const std::pair cost((open.operands[a] & open.operands[b]) == 0, larger);
        if (cost < best_cost) {
          best_cost = cost;
          best = {a, b};
        }
      }
    flops += open.multiply(problem, best.first, best.second);
  }
  return flops;
}

/// What the steps take when they are carried out; fails if they are no order.
double flops_of(const ContractionProblem& problem, const ContractionOrder& order) {
  std::vector<std::uint64_t> made = problem.operands;
  std::vector<bool> used(made.size(), false);
  double flops = 0;
  for (const ContractionStep& step : order.steps) {
    std::uint64_t needed = problem.output;
    const auto left = static_cast<std::size_t>(step.left);
    const auto right = static_cast<std::size_t>(step.right);
    EXPECT_TRUE(left != right && !used.at(left) && !used.at(right));
    used[left] = used[right] = true;
    for (std::size_t o = 0; o < made.size(); ++o)
      if (!used[o]) needed |= made[o];
    const std::uint64_t both = made[left] | made[right];
    made.push_back(both & needed);
    used.push_back(false);
    EXPECT_LE(std::popcount(both & needed), problem.most_indices);
    flops += size_of(problem, both) * ((both & needed) == both ? 1 : 2);
  }
  EXPECT_EQ(std::count(used.begin(), used.end(), false), 1);
  return flops;
}

ContractionProblem random_problem(Random& random, std::int64_t operands, std::int64_t indices) {
  ContractionProblem problem{{}, 0, {}, 8};
  std::uint64_t all = 0;
  for (std::int64_t i = 0; i < indices; ++i)
    problem.extents.push_back(static_cast<double>(random.between(1, 9)));
  for (std::int64_t o = 0; o < operands; ++o) {
    std::uint64_t operand = 0;
    for (std::int64_t n = random.between(0, 3); n > 0; --n)
      operand |= std::uint64_t{1} << random.between(0, indices - 1);
    problem.operands.push_back(operand);
    all |= operand;
  }
  for (std::int64_t n = random.between(0, 3); n > 0; --n)
    problem.output |= all & std::uint64_t{1} << random.between(0, indices - 1);
  // What only one has is summed before.
  for (std::size_t o = 0; o < problem.operands.size(); ++o) {
    std::uint64_t needed = problem.output;
    for (std::size_t other = 0; other < problem.operands.size(); ++other)
      if (other != o) needed |= problem.operands[other];
    problem.operands[o] &= needed;
  }
  return problem;
}

TEST(ContractionOrder, OfAFewIsTheCheapest) {
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    const ContractionProblem problem =
        random_problem(random, random.between(2, 6), random.between(1, 9));
    const auto order = cheapest_order(problem);
    const double least = least_of_all(problem, {problem.operands});
    ASSERT_EQ(order.has_value(), least >= 0);
    if (!order) continue;
    EXPECT_NEAR(order->flops, least, 1e-9 * least);
    EXPECT_NEAR(order->flops, flops_of(problem, *order), 1e-9 * least);
  }
}

TEST(ContractionOrder, OfManyIsNoWorseThanGreed) {
  Random random(2);
  for (int round = 0; round < 30; ++round) {
    const ContractionProblem problem =
        random_problem(random, random.between(13, 24), random.between(5, 12));
    ContractionProblem free = problem;
    free.most_indices = 64;
    const auto order = cheapest_order(free);
    ASSERT_TRUE(order.has_value());
    EXPECT_NEAR(order->flops, flops_of(free, *order), 1e-9 * order->flops);
    EXPECT_LE(order->flops, by_greed(free) * (1 + 1e-9));
    if (const auto narrow = cheapest_order(problem)) (void)flops_of(problem, *narrow);
  }
}

TEST(ContractionOrder, KeepsToTheMostIndices) {
  // Nine operands that share nothing, all of whose indices are wanted.
  ContractionProblem outer{{}, 511, std::vector<double>(9, 2.0), 8};
  for (int i = 0; i < 9; ++i) outer.operands.push_back(std::uint64_t{1} << i);
  EXPECT_FALSE(cheapest_order(outer).has_value());
  outer.most_indices = 9;
  EXPECT_TRUE(cheapest_order(outer).has_value());
}

TEST(ContractionOrder, AChainOfMatricesIsThatOfTheTextbook) {
  // 10x100, 100x5, 5x50: the first two first.
  const ContractionProblem chain{{0b0011, 0b0110, 0b1100}, 0b1001, {10, 100, 5, 50}};
  const auto order = cheapest_order(chain);
  ASSERT_TRUE(order.has_value());
  EXPECT_EQ(order->flops, 2 * (10 * 100 * 5 + 10 * 5 * 50));
}

}  // namespace
}  // namespace tessera::calculus
