#include "kernel/product_blocks.h"

#include <algorithm>

namespace tessera {
namespace {

// Each call packs its operands anew. A part of the rows packs all of the second one: with 500 rows
// that is one to four percent of its time, with 250 three to eight, as measured on two processors.
// A part of the columns costs about twice as much.
constexpr std::int64_t many_rows = 400, fewer_rows = 240, many_columns = 960;
constexpr std::int64_t large = std::int64_t{1} << 33;  // products that many threads are wanted for
constexpr std::int64_t enough_parts = 16;
constexpr std::int64_t most_work = std::int64_t{1} << 31;  // multiplications in a call
constexpr std::int64_t long_sum = 1000;  // a part of the common dimension packs nothing twice
constexpr std::int64_t most_elements = std::int64_t{1} << 27;  // that a call reads of an operand

/// Borders that are multiples of what the innermost loops of libraries take at once.
std::int64_t part_of(std::int64_t extent, std::int64_t parts) {
  constexpr std::int64_t unit = 8;
  const std::int64_t part = (extent + parts - 1) / parts;
  return std::min(extent, (part + unit - 1) / unit * unit);
}

bool is_too_much(double rows, double columns, double inner) {
  return rows * columns * inner > static_cast<double>(most_work) ||
         std::max(rows, columns) * inner > static_cast<double>(most_elements);
}

}  // namespace

ProductBlocks product_blocks(std::int64_t m, std::int64_t n, std::int64_t k) {
  if (m <= 0 || n <= 0 || k <= 0) return {};
  const auto work = [&](std::int64_t down, std::int64_t across) {
    return static_cast<double>(m) / static_cast<double>(down) * static_cast<double>(n) /
           static_cast<double>(across) * static_cast<double>(k);
  };
  const bool is_large = work(1, 1) >= static_cast<double>(large);
  const std::int64_t rows = is_large ? fewer_rows : many_rows;
  std::int64_t down = 1, across = 1;  // numbers of parts
  while (down < enough_parts && m / (2 * down) >= rows) down *= 2;
  while (down == 1 && across < enough_parts && n / (2 * across) >= many_columns) across *= 2;
  std::int64_t along = 1;
  while (work(down, across) > static_cast<double>(along * most_work)) {
    if (k / (2 * along) >= long_sum)
      along *= 2;
    else if (m / (2 * down) >= many_rows)
      down *= 2;
    else if (n / (2 * across) >= many_columns)
      across *= 2;
    else
      break;
  }
  ProductBlocks blocks{part_of(m, down), part_of(n, across), part_of(k, along)};
  while (blocks.inner > 1 &&
         is_too_much(static_cast<double>(blocks.rows), static_cast<double>(blocks.columns),
                     static_cast<double>(blocks.inner)))
    blocks.inner = (blocks.inner + 1) / 2;
  return blocks;
}

bool is_worth_sharing(std::int64_t m, std::int64_t n, std::int64_t k) {
  return static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) > 5e6;
}

}  // namespace tessera
