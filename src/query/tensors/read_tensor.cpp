#include "query/tensors/read_tensor.h"

#include <algorithm>

#include "base/check.h"
#include "tra/plan_node.h"

namespace tessera::query {
namespace {

const op::Input& input_of(const Tensor& tensor) {
  const auto* input = std::get_if<op::Input>(&operator_of(tensor.plan));
  TESSERA_INVARIANT(input != nullptr && (input->relation || input->source),
                    "a tensor that has not been computed");
  return *input;
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
  const op::Input& input = input_of(tensor);
  if (input.relation) return input.relation->to_tensor();
  std::vector<Tuple> tuples;
  for_each_tuple(input, [&](const BasicTuple<TileType>& tuple) {
    tuples.push_back({tuple.key, input.source(tuple.key)});
  });
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
