#include "display/tensor_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "query/rows/schema.h"

namespace tessera::display {
namespace {

constexpr std::int64_t small = 16;  // elements of a tensor that is shown whole
constexpr std::int64_t shown_in_row = 4, shown_rows = 2;

std::string element_text(const Tile& tile, const Index& at) {
  switch (tile.dtype()) {
    case DType::boolean: return tile.at<bool>(at) ? "true" : "false";
    case DType::i64: return std::to_string(tile.at<std::int64_t>(at));
    case DType::f32:
    case DType::f64: break;
  }
  const double value = tile.at<double>(at);
  return std::isnan(value) ? "nan" : fmt::format("{:.6g}", value);
}

void add_corner(const Tile& tile, Index& at, int dimension, std::string& text) {
  if (dimension == tile.rank()) {
    text += element_text(tile, at);
    return;
  }
  const std::int64_t extent = tile.shape()[dimension];
  const std::int64_t most = tile.elements() <= small       ? extent
                            : dimension + 1 == tile.rank() ? shown_in_row
                                                           : shown_rows;
  text += '[';
  for (std::int64_t i = 0; i < std::min(extent, most); ++i) {
    if (i > 0) text += ' ';
    at[dimension] = i;
    add_corner(tile, at, dimension + 1, text);
  }
  text += extent > most ? " …]" : "]";
}

}  // namespace

std::string type_text(const TileType& type) { return sql::to_string(query::sql_type(type)); }

std::string corner_text(const Tile& tile) {
  Index at;
  for (int d = 0; d < tile.rank(); ++d) at.push_back(0);
  std::string text;
  add_corner(tile, at, 0, text);
  return text;
}

}  // namespace tessera::display
