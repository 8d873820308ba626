#include <algorithm>
#include <set>

#include "tessera/kernel.h"
#include "tessera/relation.h"

namespace tessera {

Statistics Relation::statistics() const {
  Statistics result;
  result.tuples = size();
  const KernelCall count("count_nonzero");
  const KernelCall least("min");
  const KernelCall greatest("max");
  bool any = type().presence == Presence::sparse && size() < count_below(frontier());
  const auto include = [&](double low, double high) {
    result.min = any ? std::min(result.min, low) : low;
    result.max = any ? std::max(result.max, high) : high;
    any = true;
  };
  std::vector<std::set<std::int64_t>> distinct(arity());
  for (const Tuple& tuple : tuples()) {
    for (int i = 0; i < arity(); ++i) distinct[i].insert(tuple.key[i]);
    for (const Tile& tile : tuple.tiles) {
      if (tile.elements() == 0) continue;
      result.nonzeros += count({tile}).at<std::int64_t>({});
      include(least({tile}).at<double>({}), greatest({tile}).at<double>({}));
    }
  }
  for (const auto& values : distinct)
    result.distinct.push_back(static_cast<std::int64_t>(values.size()));
  return result;
}

}  // namespace tessera
