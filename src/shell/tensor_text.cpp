#include "shell/tensor_text.h"

#include <fmt/format.h>

#include <cmath>
#include <ostream>

#include "query/schema.h"

namespace tessera::shell {
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

template <class T>
void write_number(fmt::memory_buffer& text, T value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(value)) {
      text.append(std::string_view("null"));
      return;
    }
    const std::size_t begin = text.size();
    fmt::format_to(std::back_inserter(text), "{}", value);
    // 5.0 is no integer, for readers that tell them apart.
    if (std::string_view(text.data() + begin, text.size() - begin).find_first_of(".e") ==
        std::string_view::npos)
      text.append(std::string_view(".0"));
  } else {
    fmt::format_to(std::back_inserter(text), "{}", value);  // true, 12
  }
}

/// Elements from `first` on, row-major.
template <class T>
const T* write_level(std::ostream& out, const Shape& shape, int dimension, const T* first) {
  fmt::memory_buffer text;
  if (dimension == shape.rank()) {
    write_number(text, *first);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    return first + 1;
  }
  out << '[';
  for (std::int64_t i = 0; i < shape[dimension]; ++i) {
    if (i > 0) out << ',';
    first = write_level(out, shape, dimension + 1, first);
  }
  out << ']';
  return first;
}

}  // namespace

std::string type_text(const TileType& type) { return sql::to_string(query::type_of(type)); }

std::string corner_text(const Tile& tile) {
  Index at;
  for (int d = 0; d < tile.rank(); ++d) at.push_back(0);
  std::string text;
  add_corner(tile, at, 0, text);
  return text;
}

void write_json(std::ostream& out, const Tile& tile) {
  const Tile rows = tile.dense().contiguous();
  switch (rows.dtype()) {
    case DType::f32: write_level(out, rows.shape(), 0, rows.data<float>()); return;
    case DType::f64: write_level(out, rows.shape(), 0, rows.data<double>()); return;
    case DType::i64: write_level(out, rows.shape(), 0, rows.data<std::int64_t>()); return;
    case DType::boolean: write_level(out, rows.shape(), 0, rows.data<bool>()); return;
  }
}

}  // namespace tessera::shell
