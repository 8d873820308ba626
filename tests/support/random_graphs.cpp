#include "support/random_graphs.h"

#include <algorithm>
#include <numeric>

#include "tessera/error.h"

namespace tessera {

using frames::Edge;

namespace {

using Pair = std::pair<std::int64_t, std::int64_t>;

/// Edges lead from smaller numbers to larger ones; numbers are mixed afterwards.
std::vector<Pair> edges_of(Random& random, GraphShape shape, std::int64_t n) {
  std::vector<Pair> edges;
  switch (shape) {
    case GraphShape::chains: {
      const std::int64_t chains = random.between(1, std::max<std::int64_t>(1, n / 4));
      for (std::int64_t i = chains; i < n; ++i) edges.emplace_back(i - chains, i);
      for (std::int64_t i = n < 4 ? 0 : random.between(0, chains); i > 0; --i)
        edges.emplace_back(random.between(0, n / 2), random.between(n / 2 + 1, n - 1));
      break;
    }
    case GraphShape::layers: {
      const std::int64_t width = random.between(2, 6);
      for (std::int64_t i = width; i < n; ++i)
        for (std::int64_t k = random.between(1, 3); k > 0; --k)
          edges.emplace_back((i / width - 1) * width + random.between(0, width - 1), i);
      break;
    }
    case GraphShape::tree:
      for (std::int64_t i = 0; i + 1 < n; ++i)
        edges.emplace_back(i, random.between(i + 1, std::min(n - 1, i + 1 + n / 4)));
      break;
    case GraphShape::series_parallel: {
      // An edge is replaced by two in a row, or a path is put beside it.
      edges.emplace_back(0, 1);
      for (std::int64_t i = 2; i < n; ++i) {
        Pair& edge = edges[static_cast<std::size_t>(random.between(0, std::ssize(edges) - 1))];
        const Pair was = edge;
        if (random.chance(0.6))
          edge = {was.first, i};
        else
          edges.emplace_back(was.first, i);
        edges.emplace_back(i, was.second);
      }
      break;
    }
    case GraphShape::sparse:
    case GraphShape::dense:
      for (std::int64_t i = 1; i < n; ++i)
        for (std::int64_t k = random.between(0, shape == GraphShape::sparse ? 2 : 5); k > 0; --k)
          edges.emplace_back(random.between(std::max<std::int64_t>(0, i - 20), i - 1), i);
  }
  std::erase_if(edges, [](const Pair& edge) { return edge.first == edge.second; });
  return edges;
}

}  // namespace

frames::OperatorGraph random_graph(Random& random, GraphShape shape, std::int32_t operators) {
  std::vector<std::int32_t> number(static_cast<std::size_t>(operators));
  std::iota(number.begin(), number.end(), 0);
  random.shuffle(number);
  const bool kinds = random.chance(0.5);
  std::vector<Edge> edges;
  if (operators > 1)
    for (const auto& [from, to] : edges_of(random, shape, operators))
      edges.push_back({number[from], number[to],
                       kinds ? static_cast<float>(random.between(1, 4)) / 4
                             : static_cast<float>(random.uniform(0, 1))});
  return {operators, std::move(edges)};
}

}  // namespace tessera
