#include "query/tensors/neighbours.h"

#include <algorithm>

#include "query/tensors/positions.h"
#include "query/tensors/tensor_tiling.h"

namespace tessera::query {
namespace {

std::vector<int> all_dimensions(const Tensor& tensor) {
  std::vector<int> dimensions;
  for (int d = 0; d < tensor.type.rank(); ++d) dimensions.push_back(d);
  return dimensions;
}

KernelCall assembly(int dimension) {
  return KernelCall("assemble", {{"axis", std::int64_t{dimension}}});
}

Tensor with_extents(const Tensor& tensor, const Plan& plan, int dimension, std::int64_t extent,
                    std::int64_t tile) {
  Shape shape = tensor.type.shape, tiles = tensor.type.tile;
  shape[dimension] = extent;
  tiles[dimension] = tile;
  return tensor_of(plan, shape, tiles);
}

}  // namespace

Tensor moved(const Tensor& tensor, int dimension, std::int64_t first, std::int64_t count) {
  const std::int64_t tile = tensor.type.tile[dimension], sources = tensor.type.tiles(dimension);
  const std::int64_t results = (count - 1) / tile + 1;
  const std::int64_t whole = first >= 0 ? first / tile : -((-first - 1) / tile) - 1;
  // The tile of a result and a number, around: one that does not exist is another, of which no
  // position is wanted.
  const auto around = [=](std::int64_t number) { return ((number % sources) + sources) % sources; };
  const auto column = [&](std::int64_t number) {
    const std::int64_t back = around(-number);
    std::vector<KeyExpr> keys;
    for (int d = 0; d < tensor.type.rank(); ++d)
      keys.push_back(d == dimension && back != 0 ? (key(d) + KeyExpr(back)) % KeyExpr(sources)
                                                 : key(d));
    const Plan plan = with_keys(tensor.plan, keys);
    return results < sources ? plan.filter(key(dimension) < KeyExpr(results)) : plan;
  };
  const std::size_t columns = first == whole * tile || sources == 1 ? 1 : 2;
  Plan plan = column(whole);
  const std::vector<int> same = all_dimensions(tensor);
  if (columns == 2)
    plan = plan.join(column(whole + 1), same, same,
                     std::vector<Apply>{Apply::column(0), Apply::column(1)});
  const Plan places = tile_places(
      count, tile, columns,
      [=](std::size_t c, std::int64_t t) {
        return around(t + whole + static_cast<std::int64_t>(c)) * tile;
      },
      [=](std::int64_t index) { return first + index; });
  plan = plan.join(places, {dimension}, {0}, std::vector<Apply>{assembly(dimension)});
  return with_extents(tensor, plan, dimension, count, tile);
}

Tensor strided(const Tensor& tensor, int dimension, std::int64_t step, std::int64_t count) {
  const std::int64_t whole = tensor.type.tile[dimension];
  const Tensor even = retiled(tensor, dimension, std::max(step, whole - whole % step));
  const std::int64_t from = even.type.tile[dimension], tile = (from - 1) / step + 1;
  const Plan places = tile_places(
      count, tile, 1, [=](std::size_t, std::int64_t t) { return t * from; },
      [=](std::int64_t index) { return index * step; });
  const Plan plan =
      even.plan.join(places, {dimension}, {0}, std::vector<Apply>{assembly(dimension)});
  return with_extents(even, plan, dimension, count, tile);
}

}  // namespace tessera::query
