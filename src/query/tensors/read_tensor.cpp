#include "query/tensors/read_tensor.h"

#include <algorithm>

#include "base/check.h"
#include "base/odometer.h"
#include "tile/dispatch.h"
#include "tra/plan_node.h"

namespace tessera::query {
namespace {

const op::Input& input_of(const Tensor& tensor) {
  const auto* input = std::get_if<op::Input>(&operator_of(tensor.plan));
  TESSERA_INVARIANT(input != nullptr && (input->relation || input->source),
                    "a tensor that has not been computed");
  return *input;
}

/// Calls `visit` for the key of each tile that is there, with the tile.
template <class Visit>
void for_each_tile(const op::Input& input, const Visit& visit) {
  if (input.relation) {
    for (const Tuple& tuple : input.relation->tuples()) visit(tuple.key, tuple.tiles.at(0));
    return;
  }
  for_each_tuple(input, [&](const BasicTuple<TileType>& tuple) {
    visit(tuple.key, input.source(tuple.key).at(0));
  });
}

template <class T>
struct SparseEntry {
  std::int64_t row, coordinate;
  T value;
};

/// Where a place inside of a box of a tile is in the tensor, in row-major order of these
/// dimensions.
std::int64_t place_in_tensor(std::int64_t place, const Shape& box, const Index& begin,
                             const Shape& shape) {
  const auto inside = unraveled<Index>(static_cast<std::uint64_t>(place), box);
  std::int64_t result = 0;
  for (int d = 0; d < shape.rank(); ++d) result = result * shape[d] + begin[d] + inside[d];
  return result;
}

/// The entries of all tiles in order; what is not stored takes no memory on the way.
template <class T>
Tile sparse_whole(const Tensor& tensor, const TileType& type) {
  const int dense = type.shape.rank() - type.sparse_dims;
  const auto head = [&](const Shape& all) { return Shape(all.begin(), all.begin() + dense); };
  const auto tail = [&](const Shape& all) { return Shape(all.begin() + dense, all.end()); };
  (void)type.shape.elements();
  std::vector<SparseEntry<T>> entries;
  for_each_tile(input_of(tensor), [&](const Key& key, const Tile& tile) {
    Index begin;
    for (int d = 0; d < type.shape.rank(); ++d) begin.push_back(key[d] * tensor.type.tile[d]);
    for (std::int64_t r = 0; r < tile.rows(); ++r) {
      if (tile.offsets()[r] == tile.offsets()[r + 1]) continue;
      const std::int64_t row =
          place_in_tensor(r, head(tile.shape()), head(begin), head(type.shape));
      for (std::int64_t e = tile.offsets()[r]; e < tile.offsets()[r + 1]; ++e) {
        T value{1};
        if constexpr (!std::is_same_v<T, bool>) value = tile.values<T>()[e];
        entries.push_back({row,
                           place_in_tensor(tile.coordinates()[e], tail(tile.shape()), tail(begin),
                                           tail(type.shape)),
                           value});
      }
    }
  });
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return std::pair(a.row, a.coordinate) < std::pair(b.row, b.coordinate);
  });
  SparseBuilder builder(type, std::ssize(entries));
  for (const auto& entry : entries) builder.add(entry.row, entry.coordinate, entry.value);
  return std::move(builder).publish();
}

}  // namespace

Tile read_tile(const Tensor& tensor, const Key& key) {
  const op::Input& input = input_of(tensor);
  if (input.relation) return input.relation->at(key);
  if (input.listing) {
    const auto& tuples = input.listing->tuples;
    const auto place =
        std::lower_bound(tuples.begin(), tuples.end(), key,
                         [](const auto& tuple, const Key& wanted) { return tuple.key < wanted; });
    if (place == tuples.end() || place->key != key)
      return Tile::zeros(input.listing->absent_types(key).at(0));
  }
  return input.source(key).at(0);
}

Tile read_whole(const Tensor& tensor) {
  const TileType type = whole_type(tensor);
  if (type.is_sparse())
    return visit_dtype(type.dtype, [&]<class T>() { return sparse_whole<T>(tensor, type); });
  const op::Input& input = input_of(tensor);
  if (input.relation) return input.relation->to_tensor();
  std::vector<Tuple> tuples;
  for_each_tile(input, [&](const Key& key, const Tile& tile) { tuples.push_back({key, {tile}}); });
  const TypesAt absent = input.listing ? input.listing->absent_types : TypesAt{};
  return Relation::assemble(input.type, std::move(tuples), absent).to_tensor();
}

bool is_sparse(const Tensor& tensor) {
  const RelationType& type = tensor.plan.type();
  return type.presence == Presence::sparse || type.columns.at(0).type.is_sparse();
}

TileType whole_type(const Tensor& tensor) {
  return {tensor.type.dtype, tensor.type.shape, tensor.plan.type().columns.at(0).type.sparse_dims};
}

}  // namespace tessera::query
