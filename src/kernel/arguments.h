#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tessera/kernel.h"

namespace tessera {

/// Axes as a sorted set of numbers from 0 to rank-1: negative ones count from the end. TypeError
/// that names the kernel, the axes and the shape if one is out of range or repeated.
std::vector<int> normalize_axes(std::string_view kernel, const std::vector<std::int64_t>& axes,
                                const Shape& shape);
int normalize_axis(std::string_view kernel, std::int64_t axis, const Shape& shape);

/// Bytes that a tile of this type takes if all its elements are stored.
double dense_bytes(const TileType& type);

}  // namespace tessera
