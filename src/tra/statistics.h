#pragma once

#include <mutex>
#include <set>
#include <vector>

#include "tessera/relation.h"

namespace tessera {

/// The statistics of a relation whose tuples come one by one, in any order and from any thread.
class StatisticsBuilder {
 public:
  void add(const Key& key, const std::vector<Tile>& tiles);
  /// Those of a relation of this type, all of whose tuples were added.
  Statistics finish(const RelationType& type) const;

 private:
  void include(double low, double high);

  mutable std::mutex mutex_;
  Statistics sums_;
  bool any_ = false;  // elements that min and max are of
  std::vector<std::set<std::int64_t>> distinct_;
};

}  // namespace tessera
