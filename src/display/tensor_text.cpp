#include "display/tensor_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/odometer.h"
#include "query/rows/schema.h"
#include "tile/dispatch.h"
#include "tile/ends_text.h"

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

/// What is shown of a tensor: of each dimension some positions, in order.
struct Shown {
  bool whole = true;
  std::vector<std::vector<std::int64_t>> positions = {};  // -1 stands for all that are left out
  Shape extents = {};                                     // how many they are
};

Shown shown_of(const Shape& shape) {
  double elements = 1;
  for (const std::int64_t extent : shape) elements *= static_cast<double>(extent);
  Shown shown{elements <= static_cast<double>(most_printed_whole)};
  for (const std::int64_t extent : shape) {
    std::vector<std::int64_t>& positions = shown.positions.emplace_back();
    for (std::int64_t i = 0; i < extent; ++i) {
      if (!shown.whole && extent > 2 * end_positions && i == end_positions) {
        positions.push_back(-1);
        i = extent - end_positions;
      }
      positions.push_back(i);
    }
    shown.extents.push_back(std::ssize(positions));
  }
  return shown;
}

/// The elements that are shown. Each tile is read once, and let go before the next one is.
template <class T>
Tile shown_elements(const ResultTensor& tensor, const Shown& shown) {
  MutableTile elements = MutableTile::zeros(tensor.type.dtype, shown.extents);
  std::map<Key, std::vector<std::pair<std::int64_t, Index>>> wanted;  // where, and what of the tile
  Index at(shown.extents.size(), 0);
  for (std::int64_t place = 0; place < elements.elements(); ++place) {
    Key key;
    Index inside;
    bool is_left_out = false;
    for (std::size_t d = 0; d < at.size(); ++d) {
      const std::int64_t position = shown.positions[d][static_cast<std::size_t>(at[d])];
      is_left_out = is_left_out || position < 0;
      key.push_back(position / tensor.tile[d]);
      inside.push_back(position % tensor.tile[d]);
    }
    if (!is_left_out) wanted[key].emplace_back(place, inside);
    advance(at, shown.extents);
  }
  for (const auto& [key, places] : wanted) {
    const Tile tile = tensor.read(key);
    for (const auto& [place, inside] : places) elements.data<T>()[place] = tile.at<T>(inside);
  }
  return std::move(elements).publish();
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

std::string elements_text(const ResultTensor& tensor) {
  const Shown shown = shown_of(tensor.type.shape);
  const Tile elements =
      visit_dtype(tensor.type.dtype, [&]<class T>() { return shown_elements<T>(tensor, shown); });
  return shown.whole ? to_string(elements) : ends_text(elements);
}

}  // namespace tessera::display
