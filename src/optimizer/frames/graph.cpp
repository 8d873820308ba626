#include "optimizer/frames/graph.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "base/check.h"

namespace tessera::frames {

namespace {

/// Sorts edges by one of their ends, in linear time.
void sort_by(std::vector<Edge>& edges, std::int32_t operators, std::int32_t Edge::*end) {
  std::vector<std::int32_t> at(static_cast<std::size_t>(operators) + 1, 0);
  for (const Edge& edge : edges) ++at[edge.*end + 1];
  std::partial_sum(at.begin(), at.end(), at.begin());
  std::vector<Edge> sorted(edges.size());
  for (const Edge& edge : edges) sorted[at[edge.*end]++] = edge;
  edges.swap(sorted);
}

/// Adds up neighbours in a sorted list that are between the same operators.
void merge_parallel(std::vector<Edge>& edges) {
  std::size_t kept = 0;
  for (const Edge& edge : edges) {
    if (kept > 0 && edges[kept - 1].from == edge.from && edges[kept - 1].to == edge.to)
      edges[kept - 1].probability += edge.probability;
    else
      edges[kept++] = edge;
  }
  edges.resize(kept);
}

void fill(std::vector<std::int32_t>& begin, std::vector<Link>& links, std::int32_t operators,
          const std::vector<Edge>& edges, std::int32_t Edge::*end, std::int32_t Edge::*other) {
  begin.assign(static_cast<std::size_t>(operators) + 1, 0);
  links.reserve(edges.size());
  for (const Edge& edge : edges) {
    ++begin[edge.*end + 1];
    links.push_back({edge.*other, edge.probability});
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
}

}  // namespace

OperatorGraph::OperatorGraph(std::int32_t operators, std::vector<Edge> edges,
                             std::vector<std::int32_t> weights)
    : weights_(std::move(weights)) {
  TESSERA_REQUIRE(PlanError, operators >= 0,
                  "the number of operators must not be negative, but is {}", operators);
  TESSERA_INVARIANT(weights_.empty() || std::ssize(weights_) == operators,
                    "{} weights for {} operators", weights_.size(), operators);
  total_weight_ = weights_.empty()
                      ? operators
                      : std::accumulate(weights_.begin(), weights_.end(), std::int64_t{0});
  consumer_begin_.resize(static_cast<std::size_t>(operators) + 1);
  check_edges(edges);
  sort_by(edges, operators, &Edge::to);
  sort_by(edges, operators, &Edge::from);
  merge_parallel(edges);
  fill(consumer_begin_, consumers_, operators, edges, &Edge::from, &Edge::to);
  sort_by(edges, operators, &Edge::to);
  fill(producer_begin_, producers_, operators, edges, &Edge::to, &Edge::from);
  check_acyclic();
}

void OperatorGraph::check_edges(const std::vector<Edge>& edges) const {
  TESSERA_REQUIRE(PlanError, edges.size() < std::numeric_limits<std::int32_t>::max(),
                  "cannot cut a plan of {} operators into frames: {} edges are too many", size(),
                  edges.size());
  for (const Edge& edge : edges) {
    TESSERA_REQUIRE(PlanError,
                    edge.from >= 0 && edge.from < size() && edge.to >= 0 && edge.to < size(),
                    "invalid edge from operator {} to {}: the operators are 0 to {}", edge.from,
                    edge.to, size() - 1);
    TESSERA_REQUIRE(PlanError, edge.from != edge.to, "operator {} reads its own output", edge.from);
    TESSERA_REQUIRE(PlanError, std::isfinite(edge.probability) && edge.probability >= 0,
                    "invalid probability {} that operator {} is pipelined into {}",
                    edge.probability, edge.from, edge.to);
  }
}

/// Takes away what has no producers left; what stays is on a cycle or behind one.
void OperatorGraph::check_acyclic() const {
  std::vector<std::int32_t> missing(static_cast<std::size_t>(size()));
  std::vector<std::int32_t> ready;
  for (std::int32_t op = 0; op < size(); ++op) {
    missing[op] = static_cast<std::int32_t>(producers(op).size());
    if (missing[op] == 0) ready.push_back(op);
  }
  std::int32_t taken = 0;
  while (!ready.empty()) {
    const std::int32_t op = ready.back();
    ready.pop_back();
    ++taken;
    for (const Link& link : consumers(op))
      if (--missing[link.other] == 0) ready.push_back(link.other);
  }
  if (taken == size()) return;
  // From any operator that stays, producers that stay lead backwards into a cycle.
  std::int32_t op = 0;
  while (missing[op] == 0) ++op;
  for (std::int32_t step = 0; step < size(); ++step)
    for (const Link& link : producers(op))
      if (missing[link.other] > 0) {
        op = link.other;
        break;
      }
  throw PlanError(fmt::format("the plan has a cycle: operator {} depends on its own output", op));
}

std::int64_t OperatorGraph::bytes() const {
  const auto held = [](const auto& vector) {
    return static_cast<std::int64_t>(vector.capacity() * sizeof(vector[0]));
  };
  return held(consumer_begin_) + held(producer_begin_) + held(consumers_) + held(producers_) +
         held(weights_);
}

}  // namespace tessera::frames
