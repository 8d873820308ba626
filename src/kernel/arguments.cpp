#include "kernel/arguments.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera {

int normalize_axis(std::string_view kernel, std::int64_t axis, const Shape& shape) {
  const int rank = shape.rank();
  if (axis < -rank || axis >= rank)
    throw TypeError(
        fmt::format("{}: axis {} is out of range for shape {}; {}", kernel, axis, to_string(shape),
                    rank == 0 ? "a scalar has no axes"
                              : fmt::format("axes run from {} to {}", -rank, rank - 1)));
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

std::vector<int> normalize_axes(std::string_view kernel, const std::vector<std::int64_t>& axes,
                                const Shape& shape) {
  std::vector<int> normalized;
  normalized.reserve(axes.size());
  for (std::int64_t axis : axes) normalized.push_back(normalize_axis(kernel, axis, shape));
  std::sort(normalized.begin(), normalized.end());
  const auto repeated = std::adjacent_find(normalized.begin(), normalized.end());
  if (repeated != normalized.end())
    throw TypeError(
        fmt::format("{}: axes [{}] have dimension {} of shape {} twice; list each dimension once",
                    kernel, fmt::join(axes, ", "), *repeated, to_string(shape)));
  return normalized;
}

double dense_bytes(const TileType& type) {
  return static_cast<double>(type.shape.elements()) * static_cast<double>(size_of(type.dtype));
}

}  // namespace tessera
