#include "base/check.h"
#include "kernel/arguments.h"
#include "kernel/builtin.h"
#include "kernel/matrix_product.h"
#include "kernel/sampled_product.h"
#include "kernel/vector_products.h"

namespace tessera {
namespace {

/// What holds of every product: it is linear in each of the given arguments.
Properties linear_in(const std::vector<int>& arguments) {
  Properties properties;
  properties.zero_preserving = true;
  properties.annihilated_by = arguments;
  properties.linear_in = arguments;
  for (const int argument : arguments) {
    properties.distributes_over.push_back({"add", argument});
    properties.distributes_over.push_back({"sub", argument});
  }
  return properties;
}

double elements(const Shape& shape) { return static_cast<double>(shape.elements()); }

Transposed transposed(const Params& params) {
  return {params.flag("transpose_a"), params.flag("transpose_b")};
}

/// Entries of sparse operands are not counted in their types: the cost is that of dense ones.
Cost matrix_product_cost(Types types, const Params& params) {
  const ProductShape shape = product_shape("matmul", types[0], types[1], transposed(params));
  const TileType result = product_type("matmul", types[0], types[1], transposed(params));
  return {2 * elements(shape.result) * static_cast<double>(shape.k),
          dense_bytes(types[0]) + dense_bytes(types[1]) + dense_bytes(result)};
}

std::vector<Tile> run_matrix_product(Tiles tiles, const Params& params) {
  return {matrix_product(tiles[0], tiles[1], transposed(params))};
}

void accumulate_matrix_products(MutableTile& accumulator, Tiles tiles, const Params& params) {
  accumulate_matrix_product(accumulator, tiles[0], tiles[1], transposed(params));
}

std::vector<Implementation> matrix_product_implementations() {
  const auto by_layout = [](std::string name, LayoutPattern a, LayoutPattern b) {
    return Implementation{.name = std::move(name),
                          .layouts = {a, b},
                          .run = run_matrix_product,
                          .accumulate = accumulate_matrix_products};
  };
  return {by_layout("cblas_gemm", LayoutPattern::dense, LayoutPattern::dense),
          by_layout("sparse_dense", LayoutPattern::sparse, LayoutPattern::dense),
          by_layout("dense_sparse", LayoutPattern::dense, LayoutPattern::sparse),
          by_layout("gustavson", LayoutPattern::sparse, LayoutPattern::sparse)};
}

std::vector<Parameter> transposition_parameters() {
  return {{"transpose_a", false, "swap the last two dimensions of the first argument"},
          {"transpose_b", false, "swap the last two dimensions of the second argument"}};
}

/// A product of matrices, however many there are of them and however they are paired.
Kernel product_of_matrices(const char* name, const char* description,
                           std::vector<std::string> aliases,
                           TileType (*type)(const TileType&, const TileType&, const Params&)) {
  return {.name = name,
          .description = description,
          .min_arguments = 2,
          .max_arguments = 2,
          .parameters = transposition_parameters(),
          .properties = linear_in({0, 1}),
          .infer =
              [type](Types types, const Params& params) {
                return std::vector{type(types[0], types[1], params)};
              },
          .cost = matrix_product_cost,
          .implementations = matrix_product_implementations(),
          .aliases = std::move(aliases)};
}

Kernel matmul() {
  return product_of_matrices("matmul",
                             "matrix product by NumPy's rules: vectors count as a row or a column, "
                             "leading dimensions broadcast",
                             {"matMul", "mat_mul", "matrix_multiply"},
                             [](const TileType& a, const TileType& b, const Params& params) {
                               return product_type("matmul", a, b, transposed(params));
                             });
}

TileType batched_matmul_type(const TileType& a, const TileType& b, const Params& params) {
  const auto leading = [](const Shape& shape) {
    return Shape(shape.begin(), shape.end() - std::min(shape.rank(), 2));
  };
  TESSERA_REQUIRE(TypeError, a.shape.rank() >= 3 && leading(a.shape) == leading(b.shape),
                  "batched_matmul: {} and {} do not match: they must have the same dimensions "
                  "before the last two, and at least one; use matmul to broadcast",
                  to_string(a), to_string(b));
  return product_type("batched_matmul", a, b, transposed(params));
}

Kernel batched_matmul() {
  return product_of_matrices("batched_matmul",
                             "matrix products of the last two dimensions, one for each index of "
                             "the dimensions before them",
                             {"batchMatMul"}, batched_matmul_type);
}

TileType outer_type(const TileType& a, const TileType& b) {
  const int rank = a.shape.rank() + b.shape.rank();
  TESSERA_REQUIRE(TypeError, rank <= max_rank,
                  "outer: {} and {} cannot be multiplied: the result would have {} dimensions, and "
                  "at most {} are supported; reshape one of them",
                  to_string(a), to_string(b), rank, max_rank);
  Shape shape = a.shape;
  for (const std::int64_t extent : b.shape) shape.push_back(extent);
  return {promote(a.dtype, b.dtype), shape, is_outer_sparse(a, b) ? 2 : 0};
}

Kernel outer() {
  Properties properties = linear_in({0, 1});
  properties.associative = true;
  return {.name = "outer",
          .description =
              "the products of all pairs of elements, indexed by the dimensions of the "
              "first argument and then those of the second",
          .min_arguments = 2,
          .max_arguments = 2,
          .properties = properties,
          .infer = [](Types types,
                      const Params&) { return std::vector{outer_type(types[0], types[1])}; },
          .cost =
              [](Types types, const Params&) {
                const TileType result = outer_type(types[0], types[1]);
                return Cost{elements(result.shape),
                            dense_bytes(types[0]) + dense_bytes(types[1]) + dense_bytes(result)};
              },
          .implementations = {{.name = "outer_loops",
                               .run =
                                   [](Tiles tiles, const Params&) {
                                     return std::vector{outer_product(tiles[0], tiles[1])};
                                   },
                               .accumulate =
                                   [](MutableTile& accumulator, Tiles tiles, const Params&) {
                                     accumulate_outer_product(accumulator, tiles[0], tiles[1]);
                                   }}}};
}

Kernel inner() {
  Properties properties = linear_in({0, 1});
  properties.commutative = true;
  return {.name = "inner",
          .description = "the sum of the elementwise products of two tiles of one shape",
          .min_arguments = 2,
          .max_arguments = 2,
          .properties = properties,
          .infer =
              [](Types types, const Params&) {
                TESSERA_REQUIRE(TypeError, types[0].shape == types[1].shape,
                                "inner: {} and {} do not match: both must have the same shape; "
                                "broadcast or reshape one of them",
                                to_string(types[0]), to_string(types[1]));
                return std::vector{TileType{promote(types[0].dtype, types[1].dtype), {}, 0}};
              },
          .cost =
              [](Types types, const Params&) {
                return Cost{2 * elements(types[0].shape),
                            dense_bytes(types[0]) + dense_bytes(types[1])};
              },
          .implementations = {{.name = "dot",
                               .run =
                                   [](Tiles tiles, const Params&) {
                                     return std::vector{inner_product(tiles[0], tiles[1])};
                                   }}},
          .aliases = {"dot"}};
}

Sampling sampling(const Params& params) {
  return {params.flag("transpose_b"), params.flag("use_mask_values")};
}

TileType sampled_matmul_type(Types types, const Params& params) {
  const TileType& mask = types[0];
  const TileType& a = types[1];
  const TileType& b = types[2];
  TESSERA_REQUIRE(TypeError, mask.shape.rank() == 2 && a.shape.rank() == 2 && b.shape.rank() == 2,
                  "sampled_matmul: {}, {} and {} must all be matrices; reshape or slice them",
                  to_string(mask), to_string(a), to_string(b));
  const ProductShape product =
      product_shape("sampled_matmul", a, b, {false, params.flag("transpose_b")});
  TESSERA_REQUIRE(TypeError, mask.shape == product.result,
                  "sampled_matmul: the mask {} does not match the product {} of {} and {}; it must "
                  "have the same shape",
                  to_string(mask), to_string(product.result), to_string(a), to_string(b));
  return sampled_product_type(mask, a, b, sampling(params));
}

Kernel sampled_matmul() {
  // Linear in the mask too, but only if its values are used.
  Properties properties = linear_in({1, 2});
  properties.annihilated_by = {0, 1, 2};
  return {
      .name = "sampled_matmul",
      .description =
          "mask * matmul(a, b) for arguments mask, a, b, computed only where the "
          "mask is stored",
      .min_arguments = 3,
      .max_arguments = 3,
      .parameters = {{"transpose_b", false, "swap the dimensions of b"},
                     {"use_mask_values", true,
                      "multiply by the values of the mask; otherwise it only selects"}},
      .properties = properties,
      .infer = [](Types types,
                  const Params& params) { return std::vector{sampled_matmul_type(types, params)}; },
      .cost =
          [](Types types, const Params& params) {
            const TileType result = sampled_matmul_type(types, params);
            const auto length = static_cast<double>(types[1].shape.back());
            return Cost{2 * elements(result.shape) * length,
                        dense_bytes(types[0]) + dense_bytes(types[1]) + dense_bytes(types[2]) +
                            dense_bytes(result)};
          },
      .implementations = {{.name = "sampled_dots",
                           .run =
                               [](Tiles tiles, const Params& params) {
                                 return std::vector{sampled_product(tiles[0], tiles[1], tiles[2],
                                                                    sampling(params))};
                               }}},
      .aliases = {"sddmm"}};
}

}  // namespace

std::vector<Kernel> product_kernels() {
  return {matmul(), batched_matmul(), outer(), inner(), sampled_matmul()};
}

}  // namespace tessera
