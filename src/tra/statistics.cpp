#include "tra/statistics.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/check.h"
#include "tessera/kernel.h"

namespace tessera {
namespace {

// A NaN stays, whichever comes first: the order of the tuples changes nothing.
double least_of(double a, double b) { return std::isnan(a) || a < b ? a : b; }
double greatest_of(double a, double b) { return std::isnan(a) || a > b ? a : b; }

struct OfTile {
  std::int64_t nonzeros;
  double min, max;
};

OfTile statistics_of(const Tile& tile) {
  static const KernelCall count("count_nonzero"), least("min"), greatest("max");
  // Values of a sparse tile lie side by side, whatever its rows are.
  const bool sparse = tile.is_sparse() && tile.dtype() != DType::boolean && tile.stored() > 0;
  const Tile values =
      sparse ? Tile::wrap(tile.dtype(), Shape{tile.stored()},
                          tile.bytes_begin() + tile.offsets()[0] * size_of(tile.dtype()), nullptr)
             : tile;
  OfTile found{count({values}).at<std::int64_t>({}), least({values}).at<double>({}),
               greatest({values}).at<double>({})};
  if (sparse && tile.stored() < tile.elements()) {
    found.min = least_of(found.min, 0);
    found.max = greatest_of(found.max, 0);
  }
  return found;
}

}  // namespace

void StatisticsBuilder::include(double low, double high) {
  sums_.min = any_ ? least_of(sums_.min, low) : low;
  sums_.max = any_ ? greatest_of(sums_.max, high) : high;
  any_ = true;
}

void StatisticsBuilder::add(const Key& key, const std::vector<Tile>& tiles) {
  std::vector<OfTile> found;
  for (const Tile& tile : tiles)
    if (tile.elements() > 0) found.push_back(statistics_of(tile));
  const std::lock_guard lock(mutex_);
  ++sums_.tuples;
  distinct_.resize(std::max(distinct_.size(), key.size()));
  for (std::size_t i = 0; i < key.size(); ++i) distinct_[i].insert(key[i]);
  for (const OfTile& of : found) {
    sums_.nonzeros += of.nonzeros;
    include(of.min, of.max);
  }
}

Statistics StatisticsBuilder::finish(const RelationType& type) const {
  const std::lock_guard lock(mutex_);
  Statistics result = sums_;
  if (type.presence == Presence::sparse && result.tuples < count_below(type.frontier)) {
    result.min = any_ ? least_of(result.min, 0) : 0;
    result.max = any_ ? greatest_of(result.max, 0) : 0;
  }
  result.distinct.resize(static_cast<std::size_t>(type.arity()));
  for (std::size_t i = 0; i < std::min(distinct_.size(), result.distinct.size()); ++i)
    result.distinct[i] = static_cast<std::int64_t>(distinct_[i].size());
  return result;
}

std::vector<std::int64_t> StatisticsBuilder::to_numbers() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::int64_t> numbers{sums_.tuples, sums_.nonzeros, any_ ? 1 : 0,
                                    std::bit_cast<std::int64_t>(sums_.min),
                                    std::bit_cast<std::int64_t>(sums_.max)};
  for (const std::set<std::int64_t>& values : distinct_) {
    numbers.push_back(static_cast<std::int64_t>(values.size()));
    numbers.insert(numbers.end(), values.begin(), values.end());
  }
  return numbers;
}

void StatisticsBuilder::add(const std::vector<std::int64_t>& numbers) {
  TESSERA_INVARIANT(numbers.size() >= 5, "{} numbers are no statistics", numbers.size());
  const std::lock_guard lock(mutex_);
  sums_.tuples += numbers[0];
  sums_.nonzeros += numbers[1];
  if (numbers[2] != 0)
    include(std::bit_cast<double>(numbers[3]), std::bit_cast<double>(numbers[4]));
  std::size_t component = 0;
  for (std::size_t at = 5; at < numbers.size(); ++component) {
    const auto count = static_cast<std::size_t>(numbers[at++]);
    TESSERA_INVARIANT(count <= numbers.size() - at, "{} values of {}", count, numbers.size() - at);
    distinct_.resize(std::max(distinct_.size(), component + 1));
    const auto* first = numbers.data() + at;
    distinct_[component].insert(first, first + count);
    at += count;
  }
}

Statistics Relation::statistics() const {
  StatisticsBuilder builder;
  for (const Tuple& tuple : tuples()) builder.add(tuple.key, tuple.tiles);
  return builder.finish(type());
}

}  // namespace tessera
