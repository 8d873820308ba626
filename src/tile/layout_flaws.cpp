#include "tile/layout_flaws.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tile/tile_rep.h"

namespace tessera {
namespace {

/// Whether all numbers are from 0 to `most`. The sign of a bad one stays in the sum of bits, so
/// that the loop has no branch.
bool all_within(std::span<const std::int64_t> numbers, std::int64_t most) {
  std::uint64_t signs = 0;
  for (const std::int64_t number : numbers) {
    const auto bits = static_cast<std::uint64_t>(number);
    signs |= bits | (static_cast<std::uint64_t>(most) - bits);
  }
  return (signs >> 63) == 0;
}

bool never_falls(std::span<const std::int64_t> numbers) {
  std::uint64_t falls = 0;
  for (std::size_t i = 1; i < numbers.size(); ++i) falls |= numbers[i] < numbers[i - 1] ? 1 : 0;
  return falls == 0;
}

/// How many entries do not lie above the one before them, in whatever row that is.
std::int64_t steps_back(std::span<const std::int64_t> coordinates) {
  std::int64_t count = 0;
  for (std::size_t i = 1; i < coordinates.size(); ++i)
    count += coordinates[i] <= coordinates[i - 1] ? 1 : 0;
  return count;
}

/// The same of the first entries of rows alone: there they may.
std::int64_t steps_back_between_rows(std::span<const std::int64_t> offsets,
                                     std::span<const std::int64_t> coordinates) {
  std::int64_t count = 0;
  for (std::size_t row = 1; row + 1 < offsets.size(); ++row) {
    const auto first = static_cast<std::size_t>(offsets[row]);
    if (offsets[row] == offsets[row - 1] || first >= coordinates.size()) continue;
    count += coordinates[first] <= coordinates[first - 1] ? 1 : 0;
  }
  return count;
}

/// The first entry that does not lie above the one before it in its row.
std::string step_back_in_row(std::span<const std::int64_t> offsets,
                             std::span<const std::int64_t> coordinates) {
  for (std::size_t row = 0; row + 1 < offsets.size(); ++row)
    for (auto i = static_cast<std::size_t>(offsets[row]) + 1; std::cmp_less(i, offsets[row + 1]);
         ++i)
      if (coordinates[i] <= coordinates[i - 1])
        return fmt::format("coordinates {} and {} of row {} are not increasing", coordinates[i - 1],
                           coordinates[i], row);
  return "coordinates are not increasing";
}

}  // namespace

std::string flaw_of(const TileType& type) {
  if (type.sparse_dims < 0 || type.sparse_dims > type.shape.rank())
    return fmt::format("a tile of {} cannot have {} sparse dimensions", to_string(type.shape),
                       type.sparse_dims);
  // Extents of 0 make a tile empty, but not those of the dimensions beside them harmless: strides
  // and rows are products of some of them.
  std::int64_t bytes = type.is_sparse() ? 1 : static_cast<std::int64_t>(size_of(type.dtype));
  bool fits = true;
  for (const std::int64_t extent : type.shape)
    fits = fits && extent >= 0 &&
           !__builtin_mul_overflow(bytes, std::max<std::int64_t>(extent, 1), &bytes);
  return fits ? "" : fmt::format("a tile of {} has too many elements", to_string(type));
}

std::string flaw_of_entries(const TileType& type, std::span<const std::int64_t> offsets,
                            std::span<const std::int64_t> coordinates) {
  const auto entries = static_cast<std::int64_t>(coordinates.size());
  if (std::cmp_not_equal(offsets.size(), dense_extent(type) + 1))
    return fmt::format("it has {} offsets for {} rows", offsets.size(), dense_extent(type));
  if (offsets.front() != 0 || offsets.back() != entries)
    return fmt::format("its offsets go from {} to {}, but it has {} entries", offsets.front(),
                       offsets.back(), entries);
  if (!all_within(offsets, entries) || !never_falls(offsets)) return "its offsets are decreasing";
  const std::int64_t width = sparse_extent(type);
  if (!all_within(coordinates, width - 1))
    return fmt::format("a coordinate is not in the range 0 to {}", width - 1);
  if (steps_back(coordinates) != steps_back_between_rows(offsets, coordinates))
    return step_back_in_row(offsets, coordinates);
  return "";
}

std::string flaw_of_booleans(std::span<const std::byte> elements) {
  std::byte all{0};
  for (const std::byte element : elements) all |= element;
  return all <= std::byte{1} ? "" : "an element is neither true nor false";
}

}  // namespace tessera
