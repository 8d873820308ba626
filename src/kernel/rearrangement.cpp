#include "kernel/rearrangement.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/check.h"
#include "kernel/arguments.h"
#include "kernel/builtin.h"
#include "tile/buffer.h"
#include "tile/dispatch.h"

namespace tessera {
namespace {

using Integers = std::vector<std::int64_t>;

// --- transpose and permute

TileType infer_transpose(const TileType& type, const Params&) {
  TileType result = type;
  std::reverse(result.shape.begin(), result.shape.end());
  return result;
}

Tile transpose(const Tile& tile, const Params&) { return tile.transpose(); }

Integers permutation(const TileType& type, const Params& params) {
  Integers axes = params.integers("axes");
  const Integers given = axes;
  std::uint32_t seen = 0;
  for (std::int64_t& axis : axes) {
    axis = normalize_axis("permute", axis, type.shape);
    seen |= 1U << axis;
  }
  TESSERA_REQUIRE(TypeError,
                  std::cmp_equal(axes.size(), type.shape.rank()) && seen == (1U << axes.size()) - 1,
                  "permute: axes [{}] are not a permutation of the {} dimensions of {}; list each "
                  "dimension once",
                  fmt::join(given, ", "), type.shape.rank(), to_string(type));
  return axes;
}

TileType infer_permute(const TileType& type, const Params& params) {
  TileType result = type;
  const Integers axes = permutation(type, params);
  for (std::size_t i = 0; i < axes.size(); ++i) result.shape[i] = type.shape[axes[i]];
  return result;
}

Tile permute(const Tile& tile, const Params& params) {
  return tile.permute(permutation(tile.type(), params));
}

// --- reshape

/// The shape asked for, an extent of -1 replaced by what the other extents leave.
TileType infer_reshape(const TileType& type, const Params& params) {
  const Integers asked = params.integers("shape");
  TESSERA_REQUIRE(TypeError, asked.size() <= max_rank,
                  "reshape: shape [{}] has more than {} dimensions", fmt::join(asked, ", "),
                  max_rank);
  Shape shape(asked.begin(), asked.end());
  auto* const open = std::find(shape.begin(), shape.end(), -1);
  if (open != shape.end()) *open = 1;
  const bool valid =
      std::none_of(shape.begin(), shape.end(), [](auto extent) { return extent < 0; });
  const std::int64_t elements = type.shape.elements();
  const std::int64_t others = valid ? shape.elements() : 0;
  if (open != shape.end() && others > 0 && elements % others == 0) *open = elements / others;
  TESSERA_REQUIRE(TypeError,
                  valid && (open == shape.end() || others > 0) && shape.elements() == elements,
                  "reshape: {} with {} elements cannot be reshaped into [{}]; the dimensions must "
                  "multiply to {}, and one may be -1",
                  to_string(type), elements, fmt::join(asked, ", "), elements);
  const int sparse_dims =
      type.is_sparse() && shape.rank() > 0 ? std::min(type.sparse_dims, shape.rank()) : 0;
  return {type.dtype, shape, sparse_dims};
}

Tile reshape(const Tile& tile, const Params& params) {
  return tile.reshape(infer_reshape(tile.type(), params).shape);
}

// --- expand_dims

/// Where the new dimension goes among those of the result.
int new_axis(const TileType& type, const Params& params) {
  TESSERA_REQUIRE(TypeError, type.shape.rank() < max_rank,
                  "expand_dims: {} already has {} dimensions", to_string(type), max_rank);
  Shape result = type.shape;
  result.push_back(1);
  return normalize_axis("expand_dims", params.integer("axis"), result);
}

TileType infer_expand_dims(const TileType& type, const Params& params) {
  const int axis = new_axis(type, params);
  TileType result = type;
  result.shape.push_back(1);
  std::rotate(result.shape.begin() + axis, result.shape.end() - 1, result.shape.end());
  return result;
}

Tile expand_dims(const Tile& tile, const Params& params) {
  return tile.reshape(infer_expand_dims(tile.type(), params).shape);
}

// --- slice

struct SliceBounds {
  Index begin;
  Index end;
  Strides step;
  Shape shape;
};

SliceBounds slice_bounds(const TileType& type, const Params& params) {
  const Integers begin = params.integers("begin");
  const Integers end = params.integers("end");
  Integers step = params.integers("step");
  const std::size_t rank = type.shape.size();
  if (step.size() == 1) step.assign(rank, step[0]);
  TESSERA_REQUIRE(TypeError, begin.size() == rank && end.size() == rank && step.size() == rank,
                  "slice: begin [{}], end [{}] and step [{}] do not match {}; give one bound for "
                  "each of its {} dimensions",
                  fmt::join(begin, ", "), fmt::join(end, ", "), fmt::join(step, ", "),
                  to_string(type), rank);
  SliceBounds bounds;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t extent = type.shape[i];
    TESSERA_REQUIRE(TypeError, step[i] != 0,
                    "slice: the step of dimension {} of {} is 0; use 1 to take every element", i,
                    to_string(type));
    // A step beyond the extent takes one element at most, however large it is.
    const std::int64_t limit = std::max<std::int64_t>(extent, 1);
    const std::int64_t bounded_step = std::clamp(step[i], -limit, limit);
    // Backwards, a bound may stand before the first element; -1 means the last one, as in Python.
    const bool forward = step[i] > 0;
    const std::int64_t lowest = forward ? 0 : -1;
    const std::int64_t highest = forward ? extent : extent - 1;
    const auto resolve = [&](const char* bound, std::int64_t given) {
      TESSERA_REQUIRE(TypeError, given >= lowest - extent && given <= highest,
                      "slice: {} {} is out of range for dimension {} of {}; it must be {} to {}",
                      bound, given, i, to_string(type), lowest - extent, highest);
      return given < 0 ? given + extent : given;
    };
    const std::int64_t first = resolve("begin", begin[i]);
    const std::int64_t last = resolve("end", end[i]);
    const std::int64_t stop = forward ? std::max(first, last) : std::min(first, last);
    const std::int64_t distance = forward ? stop - first : first - stop;
    const std::int64_t stride = std::abs(bounded_step);
    bounds.begin.push_back(first);
    bounds.end.push_back(stop);
    bounds.step.push_back(bounded_step);
    bounds.shape.push_back(distance / stride + (distance % stride != 0));
  }
  return bounds;
}

TileType infer_slice(const TileType& type, const Params& params) {
  return {type.dtype, slice_bounds(type, params).shape, type.sparse_dims};
}

Tile slice(const Tile& tile, const Params& params) {
  const SliceBounds bounds = slice_bounds(tile.type(), params);
  return tile.slice(bounds.begin, bounds.end, bounds.step);
}

// --- diag

TileType infer_diag(const TileType& type, const Params&) {
  TESSERA_REQUIRE(TypeError, type.shape.rank() > 0,
                  "diag: {} is not supported: a scalar has no diagonal; reshape it",
                  to_string(type));
  if (type.shape.rank() == 1) {
    const std::int64_t n = type.shape[0];
    checked_extent("diag", static_cast<__int128>(n) * n, type);
    return {type.dtype, {n, n}, type.is_sparse() ? 1 : 0};
  }
  Shape shape(type.shape.begin(), type.shape.end() - 1);
  shape[shape.size() - 1] = std::min(shape.back(), type.shape.back());
  return {type.dtype, shape, type.is_sparse() ? std::min(type.sparse_dims, shape.rank()) : 0};
}

/// A diagonal matrix stores in row i, at column i, what the vector stores at i: entries and
/// coordinates are those of the vector, and only the offsets of the rows are new.
Tile sparse_diagonal_matrix(const Tile& vector) {
  const std::int64_t n = vector.elements();
  const std::int64_t* coordinates = vector.coordinates();
  auto offsets = std::make_shared<BufferVector<std::int64_t>>(n + 1);
  std::int64_t entry = vector.offsets()[0];
  (*offsets)[0] = entry;
  for (std::int64_t row = 0; row < n; ++row) {
    if (entry < vector.offsets()[1] && coordinates[entry] == row) ++entry;
    (*offsets)[row + 1] = entry;
  }
  const std::int64_t* rows = offsets->data();
  auto owner = std::make_shared<std::pair<Tile, std::shared_ptr<const void>>>(vector, offsets);
  return Tile::wrap_sparse({vector.dtype(), {n, n}, 1}, rows, coordinates, vector.bytes_begin(),
                           std::move(owner));
}

Tile dense_diagonal_matrix(const Tile& vector) {
  const std::int64_t n = vector.elements();
  MutableTile matrix = MutableTile::zeros(vector.dtype(), {n, n});
  visit_dtype(vector.dtype(), [&]<class T>() {
    const T* from = vector.data<T>();
    T* to = matrix.data<T>();
    for (std::int64_t i = 0; i < n; ++i) to[i * (n + 1)] = from[i * vector.strides()[0]];
  });
  return std::move(matrix).publish();
}

Tile diag(const Tile& tile, const Params&) {
  if (tile.rank() > 1) return tile.diagonal();
  return tile.is_sparse() ? sparse_diagonal_matrix(tile) : dense_diagonal_matrix(tile);
}

// --- identity and cast

TileType infer_identity(const TileType& type, const Params&) { return type; }
Tile identity(const Tile& tile, const Params&) { return tile; }

Properties elementwise(Properties properties) {
  properties.elementwise = true;
  return properties;
}

}  // namespace

Properties moves_elements() {
  Properties properties;
  properties.zero_preserving = true;
  properties.linear_in = {0};
  for (const char* over : {"add", "sub", "mul", "maximum", "minimum"})
    properties.distributes_over.push_back({over, 0});
  return properties;
}

std::int64_t checked_extent(const char* kernel, __int128 extent, const TileType& type) {
  TESSERA_REQUIRE(TypeError, extent <= INT64_MAX,
                  "{}: the result for {} would be too large for a tile", kernel, to_string(type));
  return static_cast<std::int64_t>(extent);
}

Kernel rearrangement_kernel(const Rearrangement& r, Properties properties) {
  return {.name = r.name,
          .description = r.description,
          .parameters = r.parameters,
          .properties = std::move(properties),
          .infer = [infer = r.infer](
                       Types types,
                       const Params& params) { return std::vector{infer(types[0], params)}; },
          .cost =
              [infer = r.infer, copies = r.copies](Types types, const Params& params) {
                const TileType result = infer(types[0], params);
                const bool copied = copies == Copies::always ||
                                    (copies == Copies::if_sparse && types[0].is_sparse());
                return Cost{0, copied ? dense_bytes(types[0]) + dense_bytes(result) : 0};
              },
          .implementations = {{.name = r.copies == Copies::always ? "copy" : "view",
                               .run =
                                   [run = r.run](Tiles tiles, const Params& params) {
                                     return std::vector{run(tiles[0], params)};
                                   }}},
          .aliases = r.aliases};
}

std::vector<Kernel> rearrangement_kernels() {
  std::vector<Kernel> kernels = {
      rearrangement_kernel({.name = "identity",
                            .description = "a itself",
                            .copies = Copies::never,
                            .infer = infer_identity,
                            .run = identity},
                           elementwise(moves_elements())),
      cast_kernel(),
      rearrangement_kernel({.name = "transpose",
                            .description = "a with its dimensions in reverse order",
                            .copies = Copies::if_sparse,
                            .infer = infer_transpose,
                            .run = transpose},
                           moves_elements()),
      rearrangement_kernel({.name = "permute",
                            .description = "a with its dimensions in another order",
                            .copies = Copies::if_sparse,
                            .infer = infer_permute,
                            .run = permute,
                            .parameters = {{"axes", std::nullopt,
                                            "for each dimension of the result, which of a it is"}}},
                           moves_elements()),
      rearrangement_kernel(
          {.name = "reshape",
           .description = "the elements of a in row-major order under another shape",
           .copies = Copies::if_sparse,
           .infer = infer_reshape,
           .run = reshape,
           .parameters = {{"shape", std::nullopt,
                           "the extents; one may be -1 and follows from the others"}}},
          moves_elements()),
      rearrangement_kernel({.name = "expand_dims",
                            .description = "a with one more dimension, of extent 1",
                            .copies = Copies::if_sparse,
                            .infer = infer_expand_dims,
                            .run = expand_dims,
                            .parameters = {{"axis", std::int64_t{0}, "which of the result it is"}}},
                           moves_elements()),
      rearrangement_kernel(
          {.name = "slice",
           .description = "a box of a, or every step-th element of it",
           .copies = Copies::if_sparse,
           .infer = infer_slice,
           .run = slice,
           .parameters =
               {{"begin", std::nullopt, "the first index in each dimension; negative from the end"},
                {"end", std::nullopt, "the index after the last; negative from the end"},
                {"step", std::int64_t{1}, "the distance between indices; one for all, or a list"}}},
          moves_elements()),
      rearrangement_kernel({.name = "diag",
                            .description = "the diagonal matrix of a vector; else the diagonal of "
                                           "the last two dimensions",
                            .infer = infer_diag,
                            .run = diag,
                            .aliases = {"diagonal"}},
                           moves_elements()),
  };
  kernels.push_back(assembly_kernel());
  for (Kernel& kernel : enlargement_kernels()) kernels.push_back(std::move(kernel));
  return kernels;
}

}  // namespace tessera
