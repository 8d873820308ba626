#include "query/tensors/positions.h"

#include <algorithm>
#include <numeric>

namespace tessera::query {

Tensor positions(std::int64_t extent, std::int64_t tile) {
  const std::int64_t most = std::max<std::int64_t>(1, std::min(tile, extent));
  const std::int64_t tiles = extent == 0 ? 1 : (extent - 1) / most + 1;
  const auto length = [=](std::int64_t t) { return std::min(most, extent - t * most); };
  TupleSet<TileType> listing;
  listing.type = {{{"position", {DType::i64, {length(0)}}}}, {tiles}};
  for (std::int64_t t = 0; t < tiles; ++t)
    listing.tuples.push_back({{t}, {{DType::i64, {length(t)}}}});
  const auto made = [=](const Key& key) {
    MutableTile values = MutableTile::uninitialized(DType::i64, {length(key[0])});
    std::iota(values.data<std::int64_t>(), values.data<std::int64_t>() + length(key[0]),
              key[0] * most);
    return std::vector{std::move(values).publish()};
  };
  const Plan plan = Plan::input(std::make_shared<const TupleSet<TileType>>(std::move(listing)),
                                made, "positions");
  return tensor_of(plan, {extent}, {most});
}

Plan tile_places(std::int64_t extent, std::int64_t tile, std::size_t columns,
                 const std::function<std::int64_t(std::size_t column, std::int64_t tile)>& begin,
                 const std::function<std::int64_t(std::int64_t index)>& wanted) {
  const std::int64_t tiles = (extent - 1) / tile + 1;
  const auto width = static_cast<std::int64_t>(columns);
  const auto length = [=](std::int64_t t) { return std::min(tile, extent - t * tile); };
  TupleSet<TileType> listing;
  listing.type = {{{"begins", {DType::i64, {width}}}, {"wanted", {DType::i64, {length(0)}}}},
                  {tiles}};
  for (std::int64_t t = 0; t < tiles; ++t)
    listing.tuples.push_back({{t}, {{DType::i64, {width}}, {DType::i64, {length(t)}}}});
  const auto made = [=](const Key& key) {
    MutableTile begins = MutableTile::uninitialized(DType::i64, {width});
    MutableTile places = MutableTile::uninitialized(DType::i64, {length(key[0])});
    for (std::size_t c = 0; c < columns; ++c) begins.data<std::int64_t>()[c] = begin(c, key[0]);
    for (std::int64_t i = 0; i < length(key[0]); ++i)
      places.data<std::int64_t>()[i] = wanted(key[0] * tile + i);
    return std::vector{std::move(begins).publish(), std::move(places).publish()};
  };
  return Plan::input(std::make_shared<const TupleSet<TileType>>(std::move(listing)), made,
                     "places");
}

}  // namespace tessera::query
