#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/odometer.h"
#include "tessera/kernel.h"
#include "tile/dispatch.h"
#include "tile/tile_rep.h"
#include "tra/tuple_set.h"

// Whole tensors as relations of tiles, and back.

namespace tessera {
namespace {

bool all_zero(const Tile& tile) {
  return KernelCall("count_nonzero")({tile}).at<std::int64_t>({}) == 0;
}

/// Copies a dense tile into a region of a row-major tensor.
void place(const Tile& tile, MutableTile& tensor, const Index& corner) {
  const Tile source = tile.contiguous();
  if (source.elements() == 0) return;
  const int rank = tile.rank();
  const std::size_t size = size_of(tile.dtype());
  const Strides strides = row_major_strides(tensor.shape());
  const std::int64_t run = rank == 0 ? 1 : tile.shape()[rank - 1];
  const std::int64_t runs = source.elements() / run;
  Index index(rank, 0);
  for (std::int64_t i = 0; i < runs; ++i) {
    std::int64_t at = 0;
    for (int d = 0; d < rank; ++d) at += (corner[d] + index[d]) * strides[d];
    std::memcpy(tensor.bytes_begin() + at * static_cast<std::int64_t>(size),
                source.bytes_begin() + i * run * static_cast<std::int64_t>(size), run * size);
    if (rank > 1) advance(index, tile.shape(), rank - 1);
  }
}

}  // namespace

Relation Relation::from_tensor(const Tile& tensor, const Shape& tile_shape, Presence presence) {
  TESSERA_REQUIRE(TypeError, tile_shape.rank() == tensor.rank(),
                  "{} cannot be cut into tiles of {}: the number of dimensions differs",
                  to_string(tensor.type()), to_string(tile_shape));
  TESSERA_REQUIRE(TypeError, presence != Presence::partial, "a tensor cannot have missing tiles");
  const int rank = tensor.rank();
  Key frontier(rank, 0);
  for (int d = 0; d < rank; ++d) {
    TESSERA_REQUIRE(TypeError, tile_shape[d] > 0,
                    "{} cannot be cut into tiles of {}: tile sizes must be positive",
                    to_string(tensor.type()), to_string(tile_shape));
    // A tensor without elements is one empty tile, so that its shape is not lost.
    frontier[d] =
        std::max<std::int64_t>(1, (tensor.shape()[d] + tile_shape[d] - 1) / tile_shape[d]);
  }
  std::vector<Tuple> tuples;
  const std::int64_t count = count_below(frontier);
  Key key(rank, 0);
  for (std::int64_t i = 0; i < count; ++i) {
    Index begin(rank, 0);
    Index end(rank, 0);
    for (int d = 0; d < rank; ++d) {
      begin[d] = key[d] * tile_shape[d];
      end[d] = std::min(begin[d] + tile_shape[d], tensor.shape()[d]);
    }
    Tile tile = tensor.slice(begin, end);
    if (presence != Presence::sparse || !all_zero(tile)) tuples.push_back({key, {std::move(tile)}});
    advance(key, frontier);
  }
  Shape bound = tile_shape;
  for (int d = 0; d < rank; ++d) bound[d] = std::min(bound[d], tensor.shape()[d]);
  const RelationType type{
      {{"", {tensor.dtype(), bound, tensor.sparse_dims()}}}, frontier, presence};
  return assemble(type, std::move(tuples),
                  [tensor_type = tensor.type(), tile_shape](const Key& at) {
                    TileType absent = tensor_type;
                    for (int d = 0; d < absent.shape.rank(); ++d) {
                      const std::int64_t left = tensor_type.shape[d] - at[d] * tile_shape[d];
                      absent.shape[d] = std::min(tile_shape[d], left);
                    }
                    return std::vector<TileType>{absent};
                  });
}

Tile Relation::to_tensor(int column) const {
  TESSERA_REQUIRE(TypeError, column >= 0 && std::cmp_less(column, type().columns.size()),
                  "column {} does not exist in {}", column, to_string(type()));
  const TileType& bound = type().columns[column].type;
  const int rank = bound.shape.rank();
  TESSERA_REQUIRE(TypeError, rank == arity(),
                  "{} is not a tensor: key component i must count the tiles along dimension i",
                  to_string(type()));
  TESSERA_REQUIRE(PlanError, type().presence != Presence::partial,
                  "{} is not a tensor, because tuples are missing; fill them in or make it sparse",
                  to_string(type()));
  // Where the tiles along each dimension start, told by the tiles themselves.
  std::vector<std::vector<std::int64_t>> extents(rank);
  for (int d = 0; d < rank; ++d) extents[d].assign(frontier()[d], unknown_extent);
  for (const Tuple& tuple : tuples())
    for (int d = 0; d < rank; ++d) {
      std::int64_t& extent = extents[d][tuple.key[d]];
      const std::int64_t own = tuple.tiles[column].shape()[d];
      TESSERA_REQUIRE(
          TypeError, extent == unknown_extent || extent == own,
          "tiles with {} as key component {} have different sizes, {} and {}, along that dimension",
          tuple.key[d], d, extent, own);
      extent = own;
    }
  std::vector<std::vector<std::int64_t>> starts(rank);
  Shape shape(rank, 0);
  for (int d = 0; d < rank; ++d)
    for (std::int64_t i = 0; i < frontier()[d]; ++i) {
      Key key(rank, 0);
      key[d] = i;
      starts[d].push_back(shape[d]);
      shape[d] +=
          extents[d][i] == unknown_extent ? absent_types()(key)[column].shape[d] : extents[d][i];
    }
  MutableTile tensor = MutableTile::zeros(bound.dtype, shape);
  for (const Tuple& tuple : tuples()) {
    Index corner(rank, 0);
    for (int d = 0; d < rank; ++d) corner[d] = starts[d][tuple.key[d]];
    place(tuple.tiles[column], tensor, corner);
  }
  Tile result = std::move(tensor).publish();
  return bound.is_sparse() ? result.with_sparse_dims(bound.sparse_dims) : result;
}

}  // namespace tessera
