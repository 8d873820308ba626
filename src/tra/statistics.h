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

  /// All that is known so far, and the same added to what another one knows: so parts of a relation
  /// are brought together whose tuples were added elsewhere.
  std::vector<std::int64_t> to_numbers() const;
  void add(const std::vector<std::int64_t>& numbers);

 private:
  void include(double low, double high);

  mutable std::mutex mutex_;
  Statistics sums_;
  bool any_ = false;  // elements that min and max are of
  std::vector<std::set<std::int64_t>> distinct_;
};

}  // namespace tessera
