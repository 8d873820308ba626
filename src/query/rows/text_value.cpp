#include "query/rows/text_value.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace tessera::query {
namespace {

/// With as many digits as are needed to read the same number back. A NaN has no sign that matters.
template <class Real>
std::string real_text(Real value) {
  return std::isnan(value) ? "nan" : fmt::format("{}", value);
}

std::string number_text(const Tile& tile) {
  switch (tile.dtype()) {
    case DType::i64: return std::to_string(tile.at<std::int64_t>({}));
    case DType::boolean: return tile.at<bool>({}) ? "true" : "false";
    case DType::f32: return real_text(tile.at<float>({}));
    case DType::f64: break;
  }
  return real_text(tile.at<double>({}));
}

template <class T>
std::optional<T> parsed(const std::string& text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::string text_of(const Cell& cell) {
  if (cell.is_null()) return "NULL";
  if (cell.is_text()) return cell.text();
  const Tile tile = cell.tile();
  return tile.rank() == 0 ? number_text(tile) : to_string(tile);
}

Cell cast_text(const std::string& text, const Type& type) {
  if (is_text(type)) return text;
  if (is_boolean(type)) {
    if (same_name(text, "true") || text == "1") return Cell::of(true);
    if (same_name(text, "false") || text == "0") return Cell::of(false);
  } else if (is_integer(type)) {
    if (const auto value = parsed<std::int64_t>(text)) {
      const bool fits =
          bits_of(type) == 64 || (*value >= std::numeric_limits<std::int32_t>::min() &&
                                  *value <= std::numeric_limits<std::int32_t>::max());
      TESSERA_REQUIRE(ValueError, fits, "{} is out of range for INT", text);
      return Cell::of(*value);
    }
  } else if (!is_tensor(type)) {
    if (const auto value = parsed<double>(text))
      return Tile::scalar(*value).cast(tile_type(type).dtype);
  }
  throw ValueError(fmt::format("invalid input for {1}: '{0}'", text, sql::to_string(type)));
}

}  // namespace tessera::query
