#include <algorithm>
#include <map>
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
struct Indexed {
  Tile tile;
  std::string letters;
};

bool has(const std::string& letters, char letter) {
  return letters.find(letter) != std::string::npos;
}

using Extents = std::map<char, std::int64_t>;

Extents extents_of(const EinsumSpec& spec, Types types) {
  TESSERA_REQUIRE(TypeError, spec.operands.size() == 2,
                  "einsum: '{}' has {} operands; the kernel takes two", spec.to_string(),
                  spec.operands.size());
  TESSERA_REQUIRE(
      TypeError, std::cmp_less_equal(spec.output.size(), max_rank),
      "einsum: the output of '{}' would have {} dimensions, and at most {} are supported",
      spec.to_string(), spec.output.size(), max_rank);
  Extents extents;
  for (std::size_t o = 0; o < 2; ++o) {
    const std::string& letters = spec.operands[o];
    const Shape& shape = types[o].shape;
    TESSERA_REQUIRE(TypeError, std::cmp_equal(letters.size(), shape.size()),
                    "einsum: '{}' has {} indices, which does not match {} in '{}'", letters,
                    letters.size(), to_string(types[o]), spec.to_string());
    for (std::size_t d = 0; d < letters.size(); ++d) {
      const auto [known, added] = extents.emplace(letters[d], shape[d]);
      TESSERA_REQUIRE(TypeError, added || known->second == shape[d],
                      "einsum: {} and {} do not match '{}': the index {} has the sizes {} and {}",
                      to_string(types[0]), to_string(types[1]), spec.to_string(), letters[d],
                      known->second, shape[d]);
    }
  }
  return extents;
}

Indexed permuted(const Indexed& from, const std::string& letters) {
  if (from.letters == letters) return from;
  std::vector<std::int64_t> axes;
  for (char letter : letters) axes.push_back(static_cast<std::int64_t>(from.letters.find(letter)));
  return {from.tile.permute(axes), letters};
}

/// Each letter once: of an index that is repeated, only the diagonal counts.
Indexed without_repetition(Indexed from) {
  for (std::size_t i = 0; i < from.letters.size();) {
    const std::size_t again = from.letters.find(from.letters[i], i + 1);
    if (again == std::string::npos) {
      ++i;
      continue;
    }
    std::vector<std::int64_t> axes;
    std::string letters;
    for (std::size_t d = 0; d < from.letters.size(); ++d) {
      if (d == i || d == again) continue;
      axes.push_back(static_cast<std::int64_t>(d));
      letters += from.letters[d];
    }
    axes.push_back(static_cast<std::int64_t>(i));
    axes.push_back(static_cast<std::int64_t>(again));
    from = {from.tile.permute(axes).diagonal(), letters + from.letters[i]};
    i = 0;
  }
  return from;
}

/// Summed over the letters that nobody else asks for. What is left is a sum, zero or not: it is
/// stored.
Indexed without_lonely(const Indexed& from, const std::string& wanted) {
  std::vector<std::int64_t> axes;
  std::string letters;
  for (std::size_t d = 0; d < from.letters.size(); ++d)
    if (has(wanted, from.letters[d]))
      letters += from.letters[d];
    else
      axes.push_back(static_cast<std::int64_t>(d));
  if (axes.empty()) return from;
  const char* sum = from.tile.dtype() == DType::boolean ? "any" : "sum";
  return {KernelCall(sum, {{"axes", axes}})({from.tile}).dense(), letters};
}

Indexed prepared(const Tile& tile, const std::string& letters, DType dtype,
                 const std::string& wanted) {
  const Tile as_dtype = tile.dtype() == dtype ? tile : tile.cast(dtype);
  return without_lonely(without_repetition({as_dtype, letters}), wanted);
}

/// The operand in the order of the result, with extent 1 where it has no such index.
Tile aligned(const Indexed& from, const std::string& output) {
  std::string own;
  Shape shape;
  for (char letter : output) {
    const std::size_t at = from.letters.find(letter);
    shape.push_back(at == std::string::npos ? 1 : from.tile.shape()[static_cast<int>(at)]);
    if (at != std::string::npos) own += letter;
  }
  return permuted(from, own).tile.reshape(shape);
}

struct Groups {
  std::string batch, left, right, summed;
};

/// As matrices: one for each index of the batch.
Tile as_matrices(const Indexed& from, const std::string& batch, const std::string& rows,
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

Indexed matrix_form(const Indexed& a, const Indexed& b, const Groups& groups,
                    const Extents& extents) {
  const auto& [batch, left, right, summed] = groups;
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
  Shape shape;
  for (char letter : batch + left + right) shape.push_back(extents.at(letter));
  return {matrix_product(first, second, {}).dense().reshape(shape), batch + left + right};
}

Tile contract(const EinsumSpec& spec, Tiles tiles) {
  const std::vector<TileType> types{tiles[0].type(), tiles[1].type()};
  const Extents extents = extents_of(spec, types);
  const DType dtype = promote(types[0].dtype, types[1].dtype);
  const Indexed a = prepared(tiles[0], spec.operands[0], dtype, spec.operands[1] + spec.output);
  const Indexed b = prepared(tiles[1], spec.operands[1], dtype, spec.operands[0] + spec.output);
  Groups groups;
  for (char letter : a.letters) {
    const bool both = has(b.letters, letter), kept = has(spec.output, letter);
    (both ? (kept ? groups.batch : groups.summed) : groups.left) += letter;
  }
  for (char letter : b.letters)
    if (!has(a.letters, letter)) groups.right += letter;
  if (groups.summed.empty())
    return KernelCall("mul")({aligned(a, spec.output), aligned(b, spec.output)}).dense();
  return permuted(matrix_form(a, b, groups, extents), spec.output).tile;
}

TileType contraction_type(const EinsumSpec& spec, Types types) {
  const Extents extents = extents_of(spec, types);
  TileType result{promote(types[0].dtype, types[1].dtype), {}};
  for (char letter : spec.output) result.shape.push_back(extents.at(letter));
  return result;
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
             return std::vector{contraction_type(EinsumSpec::parse(params.text("spec")), types)};
           },
       .cost =
           [](Types types, const Params& params) {
             const EinsumSpec spec = EinsumSpec::parse(params.text("spec"));
             double flops = 2;
             for (const auto& [letter, extent] : extents_of(spec, types))
               flops *= static_cast<double>(extent);
             return Cost{flops, dense_bytes(types[0]) + dense_bytes(types[1]) +
                                    dense_bytes(contraction_type(spec, types))};
           },
       .implementations = {{.name = "matrix_form", .run = [](Tiles tiles, const Params& params) {
                              return std::vector{
                                  contract(EinsumSpec::parse(params.text("spec")), tiles)};
                            }}}}};
}

}  // namespace tessera
