#include "key/enumeration.h"

#include <algorithm>
#include <limits>

#include "key/closedness.h"
#include "key/image.h"
#include "key/occupancy.h"

namespace tessera {
namespace {

const std::string by_enumeration = "enumeration";

Verdict non_negativity(const KeyImage& image, const KeyOccupancy& occupancy) {
  const Key& least = occupancy.least();
  if (std::all_of(least.begin(), least.end(), [](auto value) { return value >= 0; }))
    return certain();
  std::int64_t first = image.count;
  for (const auto& column : image.columns) {
    const auto found = std::find_if(column.begin(), column.begin() + first,
                                    [](std::int64_t value) { return value < 0; });
    first = found - column.begin();
  }
  return negative_key(image.point_at(first), image.key_at(first));
}

Verdict uniqueness(const KeyImage& image, const KeyOccupancy& occupancy) {
  const std::int64_t row = occupancy.repeating_row();
  if (row < 0) return certain();
  return repeated_key(image.point_at(occupancy.repeated_row()), image.point_at(row),
                      image.key_at(row));
}

/// The first key in lexicographic order that is missing, where one is.
Key first_missing(const KeyOccupancy& occupancy, const Key& frontier) {
  Key key(frontier.size(), 0);
  while (occupancy.contains(key)) {
    std::size_t i = key.size() - 1;
    while (key[i] == frontier[i] - 1) key[i--] = 0;
    ++key[i];
  }
  return key;
}

}  // namespace

Closedness enumerate_closedness(const KeySet& keys) {
  const KeyImage image = image_of(keys);
  if (image.failure)
    return without_value(image.failure->point, image.failure->error, by_enumeration);
  if (image.count == 0) return nothing_there(keys.map.output_arity(), by_enumeration);

  const KeyOccupancy occupancy(image);
  Closedness result;
  result.method = by_enumeration;
  result.non_negative = non_negativity(image, occupancy);
  result.unique = uniqueness(image, occupancy);
  result.cardinality = occupancy.distinct();
  result.frontier_known = true;
  for (const std::int64_t greatest : occupancy.greatest()) {
    // The key above the greatest integer is none.
    const bool exists = greatest < std::numeric_limits<std::int64_t>::max();
    result.frontier.push_back(exists ? std::max<std::int64_t>(greatest + 1, 0) : greatest);
    result.frontier_known = result.frontier_known && exists;
  }
  const bool continuous = occupancy.proper() == volume(result.frontier);
  result.continuous = continuous
                          ? certain()
                          : missing_key(first_missing(occupancy, result.frontier), result.frontier);
  return result;
}

}  // namespace tessera
