#include "query/tensors/concatenation.h"

#include <algorithm>

#include "base/check.h"
#include "query/tensors/positions.h"
#include "query/tensors/tensor_tiling.h"

namespace tessera::query {
namespace {

/// So many tensors become one at a time: a tile of the result comes with two tiles of each.
constexpr std::size_t most_parts = 4;

std::int64_t ceiling(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Which tile of a part stands in a column, as a function of the tile of the result. One that does
/// not reach into it is the first or the last one.
struct Column {
  std::int64_t begin;  // of the part
  std::int64_t shift;  // between the tiles of the result and those of the part
  std::int64_t count;  // of tiles that the part has

  std::int64_t number(std::int64_t tile) const {
    return std::clamp<std::int64_t>(tile + shift, 0, count - 1);
  }
  KeyExpr number(const KeyExpr& tile, std::int64_t tiles) const {
    const KeyExpr bound(2 * (tiles + count) + 4);
    const auto from_zero = [&](const KeyExpr& value) { return value * ((value + bound) / bound); };
    const KeyExpr shifted = shift == 0 ? tile : tile + KeyExpr(shift);
    const KeyExpr last(count - 1), least = shift < 0 ? from_zero(shifted) : shifted;
    return tiles + shift <= count ? least : last - from_zero(last - least);
  }
};

/// The tiles of a column under the keys of the result.
Plan placed(const Tensor& part, const Column& column, int axis, std::int64_t tiles) {
  if (tiles == 1) return part.plan;
  const std::vector<KeyExpr> numbers{key(0), column.number(key(0), tiles)};
  const Plan wanted = with_keys(positions(tiles, 1).plan, numbers);
  std::vector<KeyExpr> keys;
  for (int d = 0; d < part.type.rank(); ++d)
    keys.push_back(d == axis ? key(0) : key(d < axis ? d + 2 : d + 1));
  return with_keys(wanted.join(part.plan, {1}, {axis}, std::vector<Apply>{Apply::column(1)}), keys);
}

/// A few parts, which have the tiles of the result but for what they lack at their ends.
Tensor joined(const std::vector<Tensor>& parts, int axis, std::int64_t tile) {
  if (parts.size() == 1) return parts[0];
  std::vector<Column> columns;
  std::vector<Tensor> sources;  // of the columns
  std::int64_t extent = 0;
  for (const Tensor& part : parts) {
    const Column first{extent, -ceiling(extent, tile), part.type.tiles(axis)};
    const int neighbours = first.count > 1 && extent % tile != 0 ? 2 : 1;
    for (int next = 0; next < neighbours; ++next) {
      columns.push_back({first.begin, first.shift + next, first.count});
      sources.push_back(part);
    }
    extent += part.type.shape[axis];
  }
  const std::int64_t tiles = ceiling(extent, tile);
  std::vector<int> same;
  for (int d = 0; d < parts[0].type.rank(); ++d) same.push_back(d);
  Plan plan = placed(sources[0], columns[0], axis, tiles);
  std::vector<Apply> projection{Apply::column(0)};
  for (std::size_t c = 1; c < columns.size(); ++c) {
    projection.push_back(Apply::column(static_cast<int>(c)));
    plan = plan.join(placed(sources[c], columns[c], axis, tiles), same, same, projection);
  }
  const KernelCall kernel("assemble", {{"axis", std::int64_t{axis}}});
  const auto begin = [=](std::size_t c, std::int64_t t) {
    return columns[c].begin + columns[c].number(t) * tile;
  };
  const Plan places =
      tile_places(extent, tile, columns.size(), begin, [](std::int64_t index) { return index; });
  plan = plan.join(places, {axis}, {0}, std::vector<Apply>{kernel});
  Shape shape = parts[0].type.shape, result = parts[0].type.tile;
  shape[axis] = extent;
  result[axis] = tile;
  return tensor_of(plan, shape, result);
}

Tensor joined_by_groups(const std::vector<Tensor>& parts, int axis, std::int64_t tile) {
  if (parts.size() <= most_parts) return joined(parts, axis, tile);
  std::size_t each = 1;
  while (each * most_parts < parts.size()) each *= most_parts;
  std::vector<Tensor> groups;
  for (std::size_t begin = 0; begin < parts.size(); begin += each) {
    const std::size_t end = std::min(parts.size(), begin + each);
    groups.push_back(joined_by_groups({parts.begin() + static_cast<std::ptrdiff_t>(begin),
                                       parts.begin() + static_cast<std::ptrdiff_t>(end)},
                                      axis, tile));
  }
  return joined(groups, axis, tile);
}

/// Those of the largest part; along the axis so many of them that small parts come into one tile.
Shape common_tile(const std::vector<Tensor>& parts, int axis) {
  const auto largest =
      std::max_element(parts.begin(), parts.end(), [](const Tensor& a, const Tensor& b) {
        return elements(a.type.shape) < elements(b.type.shape);
      });
  Shape tile = largest->type.tile;
  std::int64_t extent = 0;
  bool whole = true;
  for (const Tensor& part : parts) {
    tile[axis] = std::max(tile[axis], part.type.tile[axis]);
    whole = whole && part.type.tiles(axis) == 1;
    extent += part.type.shape[axis];
  }
  if (!whole) return tile;
  const auto fitting = static_cast<std::int64_t>(large_tile / elements(tile));
  tile[axis] = std::min(extent, tile[axis] * std::max<std::int64_t>(1, fitting));
  return tile;
}

}  // namespace

Tensor concatenated(const std::vector<Tensor>& parts, int axis) {
  std::vector<Tensor> present;
  for (const Tensor& part : parts)
    if (part.type.shape[axis] > 0) present.push_back(part);
  if (present.empty()) return parts.at(0);
  const Shape tile = common_tile(present, axis);
  for (Tensor& part : present) part = retiled(part, tile);
  return joined_by_groups(present, axis, tile[axis]);
}

Tensor expanded(const Tensor& tensor, int axis) {
  std::vector<KeyExpr> keys;
  for (int d = 0; d < tensor.type.rank(); ++d) keys.push_back(key(d));
  Shape shape = tensor.type.shape, tile = tensor.type.tile;
  keys.insert(keys.begin() + axis, KeyExpr(0));
  for (Shape* extents : {&shape, &tile}) {
    extents->push_back(1);
    std::rotate(extents->begin() + axis, extents->end() - 1, extents->end());
  }
  const KernelCall kernel("expand_dims", {{"axis", std::int64_t{axis}}});
  return tensor_of(with_keys(tensor.plan.transform(kernel), keys), shape, tile);
}

}  // namespace tessera::query
