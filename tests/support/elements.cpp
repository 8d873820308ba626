#include "support/elements.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "tile/dispatch.h"

namespace tessera {
namespace {

std::int64_t integer_of(double value) {
  constexpr double limit = 9223372036854775808.0;
  return value >= -limit && value < limit ? static_cast<std::int64_t>(value)
                                          : std::numeric_limits<std::int64_t>::min();
}

}  // namespace

Elements::Elements(DType element, const Shape& extents)
    : dtype(element),
      shape(extents),
      reals(extents.elements(), 0.0),
      integers(extents.elements(), 0),
      stored(extents.elements(), 1) {}

Elements::Elements(const Tile& tile) : Elements(tile.dtype(), tile.shape()) {
  all_stored = !tile.is_sparse();
  for (std::int64_t i = 0; i < size(); ++i) {
    const Index index = index_of(i, shape);
    stored[i] = tile.is_stored(index) ? 1 : 0;
    if (is_float(dtype))
      reals[i] = tile.at<double>(index);
    else
      set_integer(i, tile.at<std::int64_t>(index));
  }
}

void Elements::set_integer(std::int64_t position, std::int64_t value) {
  integers[position] = dtype == DType::boolean ? std::int64_t{value != 0} : value;
  reals[position] = static_cast<double>(integers[position]);
}

void Elements::set_real(std::int64_t position, double value) {
  reals[position] = dtype == DType::f32 ? static_cast<double>(static_cast<float>(value)) : value;
}

void Elements::set(std::int64_t position, const Elements& from, std::int64_t source) {
  reals[position] = from.reals[source];
  integers[position] = from.integers[source];
}

std::string Elements::print(std::int64_t position) const {
  return is_float(dtype) ? fmt::format("{}", reals[position])
                         : fmt::format("{}", integers[position]);
}

Elements converted(const Elements& elements, DType dtype) {
  if (elements.dtype == dtype) return elements;
  Elements result(dtype, elements.shape);
  result.stored = elements.stored;
  result.all_stored = elements.all_stored;
  for (std::int64_t i = 0; i < result.size(); ++i) {
    if (dtype == DType::f32 && elements.dtype == DType::i64)  // rounded once, not by way of f64
      result.reals[i] = static_cast<float>(elements.integers[i]);
    else if (is_float(dtype))
      result.set_real(i, elements.reals[i]);
    else if (dtype == DType::boolean)
      result.set_integer(i, elements.is_nonzero(i) ? 1 : 0);
    else
      result.set_integer(
          i, is_float(elements.dtype) ? integer_of(elements.reals[i]) : elements.integers[i]);
  }
  return result;
}

Tile to_tile(const Elements& elements) {
  MutableTile tile = MutableTile::uninitialized(elements.dtype, elements.shape);
  visit_dtype(elements.dtype, [&]<class T>() {
    for (std::int64_t i = 0; i < elements.size(); ++i)
      tile.data<T>()[i] = std::is_floating_point_v<T> ? static_cast<T>(elements.reals[i])
                                                      : static_cast<T>(elements.integers[i]);
  });
  return std::move(tile).publish();
}

std::int64_t position_of(const Index& index, const Shape& shape) {
  std::int64_t position = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) position = position * shape[d] + index[d];
  return position;
}

Index index_of(std::int64_t position, const Shape& shape) {
  Index index(shape.size(), 0);
  for (std::size_t d = shape.size(); d-- > 0; position /= shape[d]) index[d] = position % shape[d];
  return index;
}

std::int64_t broadcast_position(const Index& index, const Shape& from) {
  const std::size_t lead = index.size() - from.size();
  std::int64_t position = 0;
  for (std::size_t d = 0; d < from.size(); ++d)
    position = position * from[d] + (from[d] == 1 ? 0 : index[lead + d]);
  return position;
}

bool same_element(const Elements& a, const Elements& b, std::int64_t position) {
  if (!is_float(a.dtype)) return a.integers[position] == b.integers[position];
  const double x = a.reals[position];
  const double y = b.reals[position];
  return x == y || (std::isnan(x) && std::isnan(y));
}

}  // namespace tessera
