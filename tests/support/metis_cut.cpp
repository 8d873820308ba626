#include <metis.h>

#include <algorithm>
#include <cmath>

#include "optimizer/frames/split.h"
#include "support/cut_baselines.h"
#include "tessera/error.h"

namespace tessera {

using namespace frames;

namespace {

std::vector<idx_t> metis_parts(const OperatorGraph& graph, idx_t parts, Limits limits) {
  if (parts == 1 || graph.edges() == 0)  // METIS would divide by nothing
    return std::vector<idx_t>(static_cast<std::size_t>(graph.size()), 0);
  std::vector<idx_t> begin = {0};
  std::vector<idx_t> neighbours;
  std::vector<idx_t> weights;
  for (std::int32_t op = 0; op < graph.size(); ++op) {
    for (const auto links : {graph.producers(op), graph.consumers(op)})
      for (const Link& link : links) {
        neighbours.push_back(link.other);
        weights.push_back(std::max<idx_t>(1, static_cast<idx_t>(link.probability * 10'000)));
      }
    begin.push_back(static_cast<idx_t>(neighbours.size()));
  }
  idx_t n = graph.size();
  idx_t constraints = 1;
  idx_t cut = 0;
  std::vector<idx_t> part(static_cast<std::size_t>(n), 0);
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;
  // How much larger than the mean a part may be, in thousandths.
  const double mean = static_cast<double>(n) / static_cast<double>(parts);
  options[METIS_OPTION_UFACTOR] =
      std::max<idx_t>(1, static_cast<idx_t>((limits.max_size / mean - 1) * 1000));
  if (METIS_PartGraphKway(&n, &constraints, begin.data(), neighbours.data(), nullptr, nullptr,
                          weights.data(), &parts, nullptr, nullptr, options, &cut,
                          part.data()) != METIS_OK)
    throw InternalError("METIS refuses a graph");
  return part;
}

/// Operators as they become ready, of the part at hand if there is one, else of the part that has
/// the most of them.
Order staying_in_parts(const OperatorGraph& graph, const std::vector<idx_t>& part, idx_t parts) {
  std::vector<std::vector<std::int32_t>> ready(static_cast<std::size_t>(parts));
  std::vector<std::int32_t> missing(part.size());
  for (std::int32_t op = graph.size() - 1; op >= 0; --op) {
    missing[op] = static_cast<std::int32_t>(graph.producers(op).size());
    if (missing[op] == 0) ready[part[op]].push_back(op);
  }
  Order order;
  auto here = ready.begin();
  while (std::ssize(order) < graph.size()) {
    if (here->empty())
      here = std::max_element(ready.begin(), ready.end(),
                              [](const auto& a, const auto& b) { return a.size() < b.size(); });
    const std::int32_t op = here->back();
    here->pop_back();
    order.push_back(op);
    for (const Link& link : graph.consumers(op))
      if (--missing[link.other] == 0) ready[part[link.other]].push_back(link.other);
  }
  return order;
}

}  // namespace

Cut cut_by_metis(const OperatorGraph& graph, Limits limits) {
  limits.min_size = least_size(graph.size(), limits);
  const idx_t fewest = (graph.size() + limits.max_size - 1) / limits.max_size;
  std::optional<Cut> best;
  for (const double factor : {1.0, 1.1, 1.3, 1.6}) {
    const auto parts = static_cast<idx_t>(std::ceil(static_cast<double>(fewest) * factor));
    const std::vector<idx_t> part = metis_parts(graph, parts, limits);
    std::optional<Cut> found = split(graph, staying_in_parts(graph, part, parts), limits);
    if (found && (!best || found->expected_breakers < best->expected_breakers))
      best = std::move(found);
  }
  return best.value();
}

}  // namespace tessera
