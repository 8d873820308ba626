#include "query/tensors/tensor_tiling.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace tessera::query {
namespace {

/// What tiles may take while a tensor is cut anew, before smaller pieces are preferred.
constexpr double most_bytes = 256e6;

std::vector<KeyExpr> own_keys(int rank) {
  std::vector<KeyExpr> keys;
  for (int d = 0; d < rank; ++d) keys.push_back(key(d));
  return keys;
}

Tensor with_tile(const Tensor& tensor, const Plan& plan, int dimension, std::int64_t extent) {
  Shape tile = tensor.type.tile;
  tile[dimension] = extent;
  return tensor_of(plan, tensor.type.shape, tile);
}

/// Every tile into pieces, which must be whole ones, but for the last of the tensor.
Tensor cut(const Tensor& tensor, int dimension, std::int64_t extent) {
  const int rank = tensor.type.rank();
  const std::int64_t before = tensor.type.tiles(dimension);
  const Plan pieces = tensor.plan.tile(dimension, extent);
  const std::int64_t each = (tensor.type.tile[dimension] - 1) / extent + 1;
  std::vector<KeyExpr> keys = own_keys(rank);
  keys[dimension] = before == 1 ? key(rank) : key(dimension) * KeyExpr(each) + key(rank);
  Plan plan = with_keys(pieces, keys);
  // The last tile is cut into as many pieces as the others, though it may be smaller.
  const std::int64_t wanted = (tensor.type.shape[dimension] - 1) / extent + 1;
  if (wanted < before * each) plan = plan.filter(key(dimension) < KeyExpr(wanted));
  return with_tile(tensor, plan, dimension, extent);
}

/// Neighbouring tiles into one.
Tensor glued(const Tensor& tensor, int dimension, std::int64_t extent) {
  const int rank = tensor.type.rank();
  std::vector<KeyExpr> keys = own_keys(rank);
  if (extent >= tensor.type.shape[dimension]) {
    for (int d = dimension + 1; d < rank; ++d) keys[d] = key(d - 1);
    keys[dimension] = 0;
    return with_tile(tensor, with_keys(tensor.plan.concat(dimension, dimension), keys), dimension,
                     extent);
  }
  const KeyExpr each(extent / tensor.type.tile[dimension]);
  keys[dimension] = key(dimension) / each;
  keys.push_back(key(dimension) % each);
  return with_tile(tensor, with_keys(tensor.plan, keys).concat(rank, dimension), dimension, extent);
}

}  // namespace

double elements(const Shape& shape) {
  double product = 1;
  for (std::int64_t extent : shape) product *= static_cast<double>(extent);
  return product;
}

Tensor retiled(const Tensor& tensor, int dimension, std::int64_t extent) {
  const std::int64_t whole = std::max<std::int64_t>(1, tensor.type.shape[dimension]);
  const std::int64_t have = tensor.type.tile[dimension];
  const std::int64_t want = std::min(extent, whole);
  TESSERA_REQUIRE(TypeError, want > 0, "the tile size {} along dimension {} must be positive",
                  extent, dimension);
  if (have == want) return tensor;
  if (have % want == 0 || have == whole) return cut(tensor, dimension, want);
  if (want % have == 0 || want == whole) return glued(tensor, dimension, want);
  // Neither fits into the other. Gluing before cutting makes few large tiles, cutting before
  // gluing many small ones: views, so that large tiles are the lesser evil as long as they fit.
  const std::int64_t common = std::gcd(have, want);
  const double least = static_cast<double>(have / common) * static_cast<double>(want);
  const std::int64_t both = least >= static_cast<double>(whole) ? whole : have / common * want;
  double bytes = static_cast<double>(size_of(tensor.type.dtype) * both);
  for (int d = 0; d < tensor.type.rank(); ++d)
    if (d != dimension) bytes *= static_cast<double>(tensor.type.tile[d]);
  if (bytes <= most_bytes) return cut(glued(tensor, dimension, both), dimension, want);
  return glued(cut(tensor, dimension, common), dimension, want);
}

Tensor retiled(const Tensor& tensor, const Shape& tile) {
  TESSERA_REQUIRE(TypeError, tile.rank() == tensor.type.rank(),
                  "a tile of shape {} does not have the rank of the tensor {}", to_string(tile),
                  to_string(tensor.type.shape));
  // Cutting first keeps what is joined later small.
  Tensor result = tensor;
  for (const bool finer : {true, false})
    for (int d = 0; d < tile.rank(); ++d)
      if ((tile[d] < result.type.tile[d]) == finer)
        result = retiled(result, d, std::max<std::int64_t>(1, tile[d]));
  return result;
}

}  // namespace tessera::query
