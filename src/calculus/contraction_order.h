#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace tessera::calculus {

/// A product of operands that is summed over what the output lacks. Indices are bits. An index that
/// only one operand has, and the output lacks, is summed before: it counts for nothing here.
struct ContractionProblem {
  std::vector<std::uint64_t> operands;
  std::uint64_t output = 0;
  std::vector<double> extents;  // of each index
  int most_indices = 64;        // of an intermediate result
};

/// Operands are numbered as they are given; the result of step s is operand `operands.size() + s`,
/// and the last one is the whole.
struct ContractionStep {
  int left = 0, right = 0;
};
struct ContractionOrder {
  std::vector<ContractionStep> steps;
  double flops = 0;  // multiplications and additions
};

/// In which order pairs are multiplied: the cheapest for up to 12 operands, by dynamic programming
/// over subsets; beyond, the best of several greedy orders whose parts are then made optimal.
/// Nothing if each order has an intermediate result with too many indices.
std::optional<ContractionOrder> cheapest_order(const ContractionProblem& problem);

}  // namespace tessera::calculus
