#pragma once

#include <string>
#include <vector>

#include "optimizer/frames/pipelining.h"

namespace tessera {

/// What versioned tables become when their recursion is unrolled: the operators of every SELECT,
/// for every index. `outer_index` is the first index of the table that an operator belongs to.
struct UnrolledPlan {
  std::string name;
  std::vector<frames::Kind> operators;
  std::vector<frames::Use> uses;
  std::vector<std::int32_t> outer_index;

  frames::OperatorGraph graph(const frames::History& history = {}) const {
    return frames::operator_graph(operators, uses, history);
  }
};

/// Section 3.2: the forward and the backward pass of a network of so many layers of weights.
/// `skip`: activations also read those so many layers below (0: they do not).
UnrolledPlan unrolled_network(int layers, int iterations, int skip = 0);

/// Rows 0 to rows - 1 of Pascal's triangle, all of the last one asked for.
UnrolledPlan unrolled_pascal(int rows);

/// Each table the sum of the `order` ones before it; 2 is Fibonacci's.
UnrolledPlan unrolled_fibonacci(int tables, int order = 2);

/// A line of so many cells over time: each reads itself and its neighbours one step before.
UnrolledPlan unrolled_stencil(int cells, int steps);

/// Cells of a table of alignments: each reads the one above, the one before, and the one at the
/// corner between them.
UnrolledPlan unrolled_alignment(int rows, int columns);

/// A recurrent network: layer l at time t reads itself at t - 1 and layer l - 1 at t.
UnrolledPlan unrolled_recurrent(int layers, int steps);

/// 2^stages values; at each stage a value and its partner make two new ones.
UnrolledPlan unrolled_butterfly(int stages);

/// Sums of pairs, of pairs of these, and so on, over 2^levels inputs.
UnrolledPlan unrolled_tree(int levels);

/// PageRank: a vector through the same matrix over and over.
UnrolledPlan unrolled_power_iteration(int iterations);

/// k-means: distances to all centres, the nearest one, new centres; for `parts` of the points.
UnrolledPlan unrolled_clustering(int parts, int iterations);

/// Conjugate gradients: five tables an iteration that read each other across iterations.
UnrolledPlan unrolled_gradients(int iterations);

/// Several copies of a recursion side by side, whose results are joined at the end: chains that
/// have nothing to do with each other until then.
UnrolledPlan unrolled_chains(int chains, int length);

/// At least twenty plans of all these kinds, of a thousand to thirteen thousand operators each.
std::vector<UnrolledPlan> unrolled_plans();

/// The same kinds with 40 operators at most.
std::vector<UnrolledPlan> small_unrolled_plans();

}  // namespace tessera
