#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "optimizer/skeleton.h"
#include "optimizer/traffic.h"
#include "tessera/optimizer.h"

namespace tessera::optimizer {

/// What the search asks over and over, each answered once: how much it costs, by the objective, to
/// compute a node at a placement and to move its result between two. Placements are numbered.
class SearchCosts {
 public:
  SearchCosts(const Skeleton& skeleton, const OptimizerOptions& options);

  int number(const Placement& placement);
  const Placement& placement(int number) const { return *placements_[number]; }

  double compute(int node, int place);      // where the node's tuples are worked on
  double move(int node, int from, int to);  // its whole result
  /// A guess, without looking at where tuples lie: half of its result crosses.
  double rough_move(int node);
  /// Copies of one side of a join, one for each pair it is part of, to where the pairs meet.
  double copies(int join, int side, int from, int to);
  /// Its summands, left by an aggregation whose input lies at `input_place`, to their owners.
  double reduce(int node, int input_place, int partial_place, int to);

  const Skeleton& skeleton() const { return skeleton_; }
  const OptimizerOptions& options() const { return options_; }
  const ia::Plan& plan(int node) const { return skeleton_.nodes[node].plan; }
  const Key& frontier(int node) const { return plan(node).type().frontier; }

 private:
  struct Triple {
    int node, from, to;
    friend bool operator==(const Triple&, const Triple&) = default;
  };
  struct TripleHash {
    std::size_t operator()(const Triple& t) const noexcept;
  };
  const ia::Contents& contents(int node);
  /// Of a node's kernels at the busiest site, once for each of the tuples of `worked`.
  double work(int node, int worked, const Placement& at);
  const Holders& holders(int node, int place);
  ia::Traffic crossing(int node, int from, int to);
  double cost(const ia::Traffic& traffic, int node, const Placement& to);

  const Skeleton& skeleton_;
  const OptimizerOptions& options_;
  std::unordered_map<Placement, int, PlacementHash> numbers_;
  std::vector<const Placement*> placements_;
  std::vector<std::unique_ptr<ia::Contents>> contents_;
  std::vector<double> floats_;        // of each node's result, once it is listed
  std::vector<double> tuple_floats_;  // of a tuple of it, at most
  std::unordered_map<Triple, Holders, TripleHash> holders_;
  std::unordered_map<Triple, Holders, TripleHash> summands_;
  std::unordered_map<Triple, double, TripleHash> moves_;
  std::unordered_map<Triple, double, TripleHash> computes_;
  std::unordered_map<Triple, double, TripleHash> copies_[2];  // by side
};

}  // namespace tessera::optimizer
