#pragma once

#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "optimizer/search_costs.h"

namespace tessera::optimizer {

/// Dynamic programming over (node, placement of its result). A node can be computed in several
/// ways, each of which wants its inputs at certain placements and leaves the result at one; what
/// lies elsewhere than it is wanted is moved. A result that several nodes read is computed once,
/// at a placement that is decided for all its readers together.
class Search {
 public:
  /// Which placements of a join's result may be tried; all if empty.
  using Allowed = std::function<bool(int node, const Placement& at)>;

  Search(const Skeleton& skeleton, const OptimizerOptions& options, Allowed allowed = {});

  /// The cheapest plans of all results together, or nothing if what is allowed leaves none.
  std::optional<std::vector<ia::Plan>> run();
  double cost() const { return cost_; }
  /// Where the result of a node is computed in the plan that was found.
  std::optional<Placement> computed_at(int node) const;

 private:
  static constexpr double infinite = std::numeric_limits<double>::infinity();

  /// A way to compute a node: what its inputs must lie at, and where that leaves the result.
  struct Option {
    int place = 0;
    bool pending = false;    // the result is in summands
    double cost = infinite;  // with everything below
    int inputs[2] = {-1, -1};
    double whole = infinite;  // with the folding of what is left in summands
    bool copied = false;      // a join of copies, which are shuffled from where the inputs lie
  };
  /// How to have a result at a place: an option, then perhaps a move through a third place.
  struct Way {
    Option option;
    int via = -1;  // where summands are folded to whole tuples, if elsewhere
    double cost = infinite;
  };

  /// What a join needs of its sides to be computed at a place; -1: it cannot be.
  struct Sides {
    int left, right;
    bool mixed = false;  // neither side alone tells where pairs meet: only copies of both can
  };

  // Naturals: the options of a node that are worth considering whoever reads it.
  const std::vector<Option>& naturals(int node);
  void join_options(int node, std::vector<Option>& into);
  void aggregate_options(int node, std::vector<Option>& into);
  void unary_options(int node, std::vector<Option>& into);
  void prune(int node, std::vector<Option>& options);

  std::optional<Option> join_at(int node, int place);
  std::optional<Option> join_of_copies_at(int node, int place);
  std::optional<Option> aggregate_from(int node, int input_place);
  std::optional<Option> unary_from(int node, int input_place);
  Sides sides(int node, int place);
  int result_place(int node, int input_place);
  int pulled_back(int node, int place);  // -1: there is no such place
  int spread(int node, int place);       // the place itself, with one copy of each tuple

  std::size_t movable_from(int node) const;
  Way best(int node, int place);           // for a reader
  Way best_computed(int node, int place);  // computing it anew
  Way find_best(int node, int place);
  Way best_anywhere(int node);  // wherever it is cheapest
  /// Where a way leaves the result.
  static int place_of(const Way& way) { return way.via >= 0 ? way.via : way.option.place; }
  Way finish(int node, const Option& option, int place);
  std::vector<int> read_places(int node, std::size_t most);  // where a reader may find the result

  // Shared results.
  void put(int node, int place);  // decides where one lies
  double total();  // of the whole plan, with shared results where they were decided to be
  void decide_shared();
  void demands(int node, int place, std::vector<std::vector<int>>& of);
  std::vector<int> shared_candidates(int node, const std::vector<int>& demanded);

  ia::Plan emit(int node, int place);  // for a reader
  ia::Plan emit_way(int node, int place, const Way& way);

  const Skeleton& skeleton_;
  const OptimizerOptions& options_;
  Allowed allowed_;
  SearchCosts costs_;
  std::vector<int> initial_;  // of inputs: the number of their placement; -1 where it is free
  std::vector<int> shared_;   // nodes that several others read
  std::size_t joins_ = 0;     // how many there are
  std::vector<int> at_;       // for shared nodes: where they are; -1: not decided

  /// What is known of a node while the shared results that it depends on lie where they do.
  struct Known {
    std::optional<std::vector<Option>> naturals = {};
    std::unordered_map<int, Way> computed = {};  // by place
    std::optional<Way> anywhere = {};
  };
  /// The shared results that a node reads, or that what it reads depends on: not those behind
  /// others, as these are decided too. Ascending.
  std::vector<std::vector<int>> depends_on_;
  std::vector<std::vector<int>> dependents_;  // the other way round
  /// By node, and then by where those lie that it depends on; before they are decided, by nothing.
  std::vector<std::map<std::vector<int>, Known>> known_;
  std::vector<Known*> now_;    // of these: as everything lies
  std::vector<bool> is_read_;  // by other nodes
  // How places of a node and of what it reads correspond; that never changes.
  std::vector<std::unordered_map<int, Sides>> sides_;
  std::vector<std::unordered_map<int, int>> result_;  // of an input's place; -1: it does not do
  std::vector<std::unordered_map<int, int>> pulled_;
  std::vector<std::unordered_map<int, int>> spread_;
  std::vector<std::vector<Placement>> grids_;
  std::unordered_map<std::int64_t, ia::Plan> emitted_;
  std::vector<int> computed_at_;
  double cost_ = infinite;
};

}  // namespace tessera::optimizer
