#include <algorithm>

#include "base/check.h"
#include "tessera/tile.h"

namespace tessera {

std::int64_t Shape::elements() const {
  std::int64_t product = 1;
  bool overflow = false;
  for (std::int64_t extent : *this) {
    TESSERA_REQUIRE(TypeError, extent >= 0, "shape {}: negative dimensions are not allowed",
                    to_string(*this));
    if (extent == 0) return 0;
    overflow = overflow || __builtin_mul_overflow(product, extent, &product);
  }
  TESSERA_REQUIRE(TypeError, !overflow, "shape {} has more than 2^63 elements", to_string(*this));
  return product;
}

std::string to_string(const Shape& shape) {
  return fmt::format("[{}]", fmt::join(shape.begin(), shape.end(), "x"));
}

std::string to_string(const TileType& type) {
  const auto* split = type.shape.end() - std::clamp(type.sparse_dims, 0, type.shape.rank());
  std::string text =
      fmt::format("{}[{}]", to_string(type.dtype), fmt::join(type.shape.begin(), split, "x"));
  if (type.is_sparse()) text += fmt::format("({})", fmt::join(split, type.shape.end(), "x"));
  return text;
}

Shape broadcast_shapes(const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape result = longer;
  const std::size_t lead = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    std::int64_t& extent = result[lead + i];
    if (extent == 1) {
      extent = shorter[i];
    } else {
      TESSERA_REQUIRE(TypeError, shorter[i] == 1 || shorter[i] == extent,
                      "shapes {} and {} cannot be broadcast together: {} != {}", to_string(a),
                      to_string(b), a.size() >= b.size() ? extent : shorter[i],
                      a.size() >= b.size() ? shorter[i] : extent);
    }
  }
  return result;
}

}  // namespace tessera
