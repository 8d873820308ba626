#include <algorithm>
#include <utility>

#include "base/check.h"
#include "kernel/arguments.h"
#include "kernel/builtin.h"
#include "kernel/einsum_spec.h"
#include "kernel/matrix_product.h"

// Products of two tiles in Einstein's notation. Indices that only one operand has and the result
// has not are summed first; what remains is a product of matrices for each index that both operands
// and the result have, or, where nothing is summed over, a product element by element.

namespace tessera {
namespace {

/// A tile with a letter for each dimension.
struct LabelledTile {
  Tile tile;
  std::string letters;
};

using Extents = EinsumSpec::Extents;

Extents extents_of(const EinsumSpec& spec, Types types) {
  TESSERA_REQUIRE(TypeError, spec.operands.size() == 2,
                  "einsum: '{}' has {} operands; the kernel takes two", spec.to_string(),
                  spec.operands.size());
  return spec.extents({types[0].shape, types[1].shape});
}

Shape shape_of(const std::string& letters, const Extents& extents) {
  Shape shape;
  for (char letter : letters) shape.push_back(extents.at(letter));
  return shape;
}

Tile permuted(const Tile& tile, const std::vector<int>& axes) {
  return tile.permute({axes.begin(), axes.end()});
}

LabelledTile permuted(const LabelledTile& from, const std::string& letters) {
  if (from.letters == letters) return from;
  return {permuted(from.tile, axes_of(letters, from.letters)), letters};
}

/// Each letter once: of an index that is repeated, only the diagonal counts.
LabelledTile without_repetition(LabelledTile from) {
  while (const auto twice = repetition_in(from.letters))
    from = {permuted(from.tile, twice->order).diagonal(), twice->letters};
  return from;
}

/// Summed over the letters that nobody else asks for. What is left is a sum, zero or not: it is
/// stored.
LabelledTile summed(const LabelledTile& from, const EinsumSpec::SummedFirst& first) {
  if (first.axes.empty()) return from;
  const char* sum = from.tile.dtype() == DType::boolean ? "any" : "sum";
  return {KernelCall(sum, {{"axes", first.axes}})({from.tile}).dense(), first.left};
}

/// The operand in the order of the result, with extent 1 where it has no such index.
Tile aligned(const LabelledTile& from, const std::string& output) {
  std::string own;
  Shape shape;
  for (char letter : output) {
    const std::size_t at = from.letters.find(letter);
    shape.push_back(at == std::string::npos ? 1 : from.tile.shape()[static_cast<int>(at)]);
    if (at != std::string::npos) own += letter;
  }
  return permuted(from, own).tile.reshape(shape);
}

/// As matrices: one for each index of the batch.
Tile as_matrices(const LabelledTile& from, const std::string& batch, const std::string& rows,
                 const std::string& columns, const Extents& extents) {
  const Tile ordered = permuted(from, batch + rows + columns).tile;
  if (rows.size() == 1 && columns.size() == 1) return ordered;
  const auto elements = [&](const std::string& letters) {
    std::int64_t product = 1;
    for (char letter : letters) product *= extents.at(letter);
    return product;
  };
  return ordered.reshape({elements(batch), elements(rows), elements(columns)});
}

LabelledTile matrix_form(const LabelledTile& a, const LabelledTile& b,
                         const EinsumSpec::Roles& roles, const Extents& extents) {
  const auto& [batch, summed, left, right] = roles;
  Tile first = as_matrices(a, batch, left, summed, extents);
  Tile second = as_matrices(b, batch, summed, right, extents);
  if (first.rank() != second.rank()) {  // one of them has its batch in one dimension
    const auto flat = [](const Tile& tile) {
      const Shape& shape = tile.shape();
      const std::int64_t rows = shape[shape.rank() - 2], columns = shape[shape.rank() - 1];
      std::int64_t count = 1;
      for (int d = 0; d + 2 < shape.rank(); ++d) count *= shape[d];
      return tile.reshape({count, rows, columns});
    };
    if (first.rank() != 3) first = flat(first);
    if (second.rank() != 3) second = flat(second);
  }
  const std::string letters = batch + left + right;
  return {matrix_product(first, second, {}).dense().reshape(shape_of(letters, extents)), letters};
}

Tile contract(EinsumSpec spec, Tiles tiles) {
  const Extents extents = extents_of(spec, std::vector{tiles[0].type(), tiles[1].type()});
  const DType dtype = promote(tiles[0].dtype(), tiles[1].dtype());
  std::vector<LabelledTile> operands;
  for (std::size_t o = 0; o < 2; ++o) {
    const Tile as_dtype = tiles[o].dtype() == dtype ? tiles[o] : tiles[o].cast(dtype);
    const LabelledTile once = without_repetition({as_dtype, spec.operands[o]});
    spec.operands[o] = once.letters;
    operands.push_back(summed(once, spec.summed_first(o)));
    spec.operands[o] = operands[o].letters;
  }
  if (spec.roles().summed.empty())
    return KernelCall("mul")({aligned(operands[0], spec.output), aligned(operands[1], spec.output)})
        .dense();
  return permuted(matrix_form(operands[0], operands[1], spec.roles(), extents), spec.output).tile;
}

TileType contraction_type(const EinsumSpec& spec, Types types) {
  return {promote(types[0].dtype, types[1].dtype), shape_of(spec.output, extents_of(spec, types))};
}

EinsumSpec spec_of(const Params& params, int left, int right) {
  return EinsumSpec::parse(params.text("spec"), {left, right});
}

Properties bilinear() {
  Properties properties;
  properties.zero_preserving = true;
  properties.annihilated_by = {0, 1};
  properties.linear_in = {0, 1};
  for (int argument : {0, 1}) {
    properties.distributes_over.push_back({"add", argument});
    properties.distributes_over.push_back({"sub", argument});
  }
  return properties;
}

}  // namespace

std::vector<Kernel> contraction_kernels() {
  return {
      {.name = "einsum",
       .description =
           "the sums of products of two tiles in Einstein's notation; indices that only one "
           "of them has and the result has not are summed first; the result is dense",
       .min_arguments = 2,
       .max_arguments = 2,
       .parameters = {{"spec", std::nullopt, "a letter a dimension, as in 'ik,kj->ij'"}},
       .properties = bilinear(),
       .infer =
           [](Types types, const Params& params) {
             return std::vector{contraction_type(
                 spec_of(params, types[0].shape.rank(), types[1].shape.rank()), types)};
           },
       .cost =
           [](Types types, const Params& params) {
             const EinsumSpec spec = spec_of(params, types[0].shape.rank(), types[1].shape.rank());
             double flops = 2;
             for (const auto& [letter, extent] : extents_of(spec, types))
               flops *= static_cast<double>(extent);
             return Cost{flops, dense_bytes(types[0]) + dense_bytes(types[1]) +
                                    dense_bytes(contraction_type(spec, types))};
           },
       .implementations = {{.name = "matrix_form", .run = [](Tiles tiles, const Params& params) {
                              return std::vector{contract(
                                  spec_of(params, tiles[0].rank(), tiles[1].rank()), tiles)};
                            }}}}};
}

}  // namespace tessera
