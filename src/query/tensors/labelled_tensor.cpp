#include "query/tensors/labelled_tensor.h"

#include <algorithm>
#include <map>

#include "base/check.h"
#include "kernel/einsum_spec.h"
#include "query/tensors/tensor_tiling.h"
#include "store/formats/format.h"

namespace tessera::query {
namespace {

using TileExtents = std::map<char, std::int64_t>;

/// The extents of tiles along each letter. Where both operands have it, the larger one's count: the
/// smaller is cheaper to tile anew. Of two that are equally large, the coarser is cut, which copies
/// nothing.
TileExtents common_tiles(const LabelledTensor& a, const LabelledTensor& b) {
  TileExtents tiles;
  for (std::size_t d = 0; d < a.letters.size(); ++d)
    tiles[a.letters[d]] = a.tensor.type.tile[static_cast<int>(d)];
  const double in_a = elements(a.tensor.type.shape), in_b = elements(b.tensor.type.shape);
  for (std::size_t d = 0; d < b.letters.size(); ++d) {
    const std::int64_t own = b.tensor.type.tile[static_cast<int>(d)];
    const auto [known, added] = tiles.emplace(b.letters[d], own);
    if (added) continue;
    if (in_b > in_a || (in_b == in_a && own < known->second)) known->second = own;
  }
  return tiles;
}

/// A product of two tiles may be much larger than both: then these are made smaller.
void bound_result(TileExtents& tiles, const std::string& output, const Shape& shape, DType dtype,
                  double operands) {
  double result = 1;
  for (char letter : output) result *= static_cast<double>(tiles.at(letter));
  if (result <= std::max(large_tile, operands)) return;
  const Shape chosen = store::chosen_tile(dtype, shape);
  for (std::size_t d = 0; d < output.size(); ++d)
    tiles[output[d]] = std::min(tiles[output[d]], chosen[static_cast<int>(d)]);
}

Plan tiled(const LabelledTensor& from, const TileExtents& tiles) {
  Tensor tensor = from.tensor;
  for (std::size_t d = 0; d < from.letters.size(); ++d)
    tensor = retiled(tensor, static_cast<int>(d), tiles.at(from.letters[d]));
  return tensor.plan;
}

}  // namespace

std::int64_t LabelledTensor::extent(char letter) const {
  const std::size_t at = letters.find(letter);
  return at == std::string::npos ? -1 : tensor.type.shape[static_cast<int>(at)];
}

LabelledTensor broadcast(const Tensor& tensor, const Shape& shape, const std::string& letters,
                         char own) {
  LabelledTensor result{tensor, ""};
  const int lead = shape.rank() - tensor.type.rank();
  for (int d = 0; d < tensor.type.rank(); ++d) {
    const bool spread = tensor.type.shape[d] == 1 && shape[lead + d] != 1;
    result.letters +=
        spread ? static_cast<char>(own + d) : letters[static_cast<std::size_t>(lead + d)];
  }
  return result;
}

Tensor joined(const LabelledTensor& a, const LabelledTensor& b, const KernelCall& kernel,
              const std::string& output) {
  Shape shape;
  for (char letter : output) shape.push_back(std::max(a.extent(letter), b.extent(letter)));
  TileExtents tiles = common_tiles(a, b);
  bound_result(tiles, output, shape, promote(a.tensor.type.dtype, b.tensor.type.dtype),
               std::max(elements(a.tensor.type.tile), elements(b.tensor.type.tile)));

  const EinsumSpec::Roles roles = EinsumSpec{{a.letters, b.letters}, output}.roles();
  std::string common;  // as b has them
  for (char letter : b.letters)
    if (has_letter(a.letters, letter)) common += letter;
  const std::vector<int> left_keys = axes_of(common, a.letters);
  const std::vector<int> right_keys = axes_of(common, b.letters);
  Plan plan = tiled(a, tiles).join(tiled(b, tiles), left_keys, right_keys, kernel);
  // The key of the join has the letters of a and what else b has.
  const std::vector<int> components = axes_of(output, a.letters + roles.right);
  std::vector<KeyExpr> keys;
  Shape tile;
  for (int component : components) keys.push_back(key(component));
  for (char letter : output) tile.push_back(tiles.at(letter));
  const bool adds = !roles.summed.empty();
  return tensor_of(adds ? plan.aggregate(components, "add") : with_keys(plan, keys), shape, tile);
}

LabelledTensor diagonal(const LabelledTensor& from) {
  const auto twice = repetition_in(from.letters);
  if (!twice) return from;
  // Square tiles, of which those on the diagonal have one.
  const std::int64_t extent =
      std::min(from.tensor.type.tile[twice->first], from.tensor.type.tile[twice->again]);
  const Tensor square = retiled(retiled(from.tensor, twice->first, extent), twice->again, extent);
  const Tensor turned = permuted(square, twice->order);
  const int last = square.type.rank() - 1;
  std::vector<KeyExpr> keys;
  for (int d = 0; d < last; ++d) keys.push_back(key(d));
  Plan plan = turned.plan;
  if (turned.type.tiles(last) > 1) plan = plan.filter(key(last - 1) == key(last));
  const Shape shape(turned.type.shape.begin(), turned.type.shape.end() - 1);
  const Shape tile(turned.type.tile.begin(), turned.type.tile.end() - 1);
  return diagonal(
      {tensor_of(with_keys(plan, keys).transform("diag"), shape, tile), twice->letters});
}

}  // namespace tessera::query
