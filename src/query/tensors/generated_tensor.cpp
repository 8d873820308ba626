#include "query/tensors/generated_tensor.h"

#include <algorithm>

#include "base/odometer.h"
#include "base/stop.h"
#include "store/formats/format.h"

namespace tessera::query {
namespace {

Shape extents_at(const TensorType& type, const Key& key) {
  Shape extents;
  for (int d = 0; d < type.rank(); ++d)
    extents.push_back(std::min(type.tile[d], type.shape[d] - key[d] * type.tile[d]));
  return extents;
}

Tile tile_at(const TensorType& type, const FillRun& fill, const Key& key) {
  const Shape extents = extents_at(type, key);
  MutableTile tile = MutableTile::uninitialized(type.dtype, extents);
  if (tile.elements() == 0) return std::move(tile).publish();
  const auto last = static_cast<std::size_t>(type.rank() - 1);
  Index begin, end;
  for (int d = 0; d < type.rank(); ++d) {
    begin.push_back(key[d] * type.tile[d]);
    end.push_back(begin.back() + extents[d]);
  }
  const std::int64_t run = extents[static_cast<int>(last)];
  const std::size_t run_bytes = static_cast<std::size_t>(run) * size_of(type.dtype);
  std::byte* to = tile.bytes_begin();
  StopPoll poll("a tensor was made");
  Index at = begin;
  do {
    fill(at, run, to);
    to += run_bytes;
    poll.passed(run);
  } while (advance(at, begin, end, last));
  return std::move(tile).publish();
}

}  // namespace

Tensor generated_tensor(DType dtype, const Shape& shape, const std::string& name,
                        const FillRun& fill) {
  TensorType type{dtype, shape, store::chosen_tile(dtype, shape)};
  bool even = true;
  Key frontier;
  for (int d = 0; d < type.rank(); ++d) {
    type.tile[d] = std::max<std::int64_t>(1, std::min(type.tile[d], shape[d]));
    even = even && shape[d] % type.tile[d] == 0 && shape[d] > 0;
    frontier.push_back(type.tiles(d));
  }
  const RelationType relation{{{"", {dtype, extents_at(type, Key(frontier.size(), 0))}}}, frontier};
  const TileSource source = [type, fill](const Key& key) {
    return std::vector{tile_at(type, fill, key)};
  };
  if (even) return tensor_of(Plan::input(relation, source, name), shape, type.tile);
  // Tiles at the edges are smaller, which only a list can say.
  auto listing = std::make_shared<TupleSet<TileType>>();
  listing->type = relation;
  Key key(frontier.size(), 0);
  do listing->tuples.push_back({key, {{dtype, extents_at(type, key)}}});
  while (advance(key, frontier));
  return tensor_of(Plan::input(listing, source, name), shape, type.tile);
}

}  // namespace tessera::query
