#include <algorithm>

#include "laws/case_maker.h"

namespace tessera {
namespace {

/// The extents of a product: m x k by k x n.
struct ProductExtents {
  std::int64_t m, k, n;
};

ProductExtents random_extents(CaseMaker& make) {
  const std::int64_t most = make.budget > 1000 ? 24 : make.budget > 100 ? 16 : 8;
  ProductExtents extents{make.extent(most), make.extent(most), make.extent(most)};
  if (make.budget <= 1000) return extents;
  const std::int64_t where = make.random.between(0, 3);
  if (where == 0) extents.m = make.random.between(60, 150);
  if (where == 1) extents.n = make.random.between(60, 150);
  if (where == 2) extents = {make.random.between(1, 3), 3000, 2};
  return extents;
}

Shape joined(const Shape& lead, std::int64_t rows, std::int64_t columns, bool transposed) {
  Shape shape = lead;
  shape.push_back(transposed ? columns : rows);
  shape.push_back(transposed ? rows : columns);
  return shape;
}

KernelCase matrices(CaseMaker& make, const Shape& a_lead, const Shape& b_lead) {
  const auto [m, k, n] = random_extents(make);
  Params params;
  for (const char* flag : {"transpose_a", "transpose_b"})
    if (make.random.chance(0.5)) params.set(flag, make.random.chance(0.6));
  const auto transposed = [&](const char* flag) { return params.has(flag) && params.flag(flag); };
  Shape a = joined(a_lead, m, k, transposed("transpose_a"));
  Shape b = joined(b_lead, make.misfit() ? make.extent(8) : k, n, transposed("transpose_b"));
  if (make.misfit()) a = make.shape();
  if (make.misfit()) b = make.shape();
  Tile left = make.tile(a);
  return make.made({std::move(left), make.tile(b)}, std::move(params));
}

KernelCase vectors(CaseMaker& make) {
  const auto [m, k, n] = random_extents(make);
  const bool left_vector = make.random.chance(0.6);
  const Shape a = left_vector ? Shape{k} : Shape{m, k};
  const Shape b = !left_vector || make.random.chance(0.3) ? Shape{k} : Shape{k, n};
  Params params;
  if (make.misfit()) params.set("transpose_a", true);
  Tile left = make.tile(a);
  return make.made({std::move(left), make.tile(b)}, std::move(params));
}

/// A product with so many columns that a row of it is not kept as an array.
KernelCase wide_sparse_matrices(CaseMaker& make) {
  const Recipe sparse{make.recipe().values, Layouts::sparse};
  const std::int64_t inner = make.random.between(1, 6);
  Tile left = make.tile({make.random.between(1, 4), inner}, sparse);
  return make.made({std::move(left), make.tile({inner, make.random.between(4000, 9000)}, sparse)});
}

KernelCase matmul(CaseMaker& make) {
  if (make.recipe().layouts == Layouts::any && make.random.chance(0.04))
    return wide_sparse_matrices(make);
  if (make.random.chance(0.25)) return vectors(make);
  if (make.random.chance(0.6)) return matrices(make, {}, {});
  const Shape lead = random_shape(make.random, 0, 3, 6);
  const Shape a_lead = make.random.chance(0.5) ? lead : random_narrowing(make.random, lead);
  const Shape b_lead = make.random.chance(0.5) ? lead : random_narrowing(make.random, lead);
  return matrices(make, a_lead, b_lead);
}

KernelCase batched_matmul(CaseMaker& make) {
  const Shape lead = random_shape(make.random, make.misfit() ? 0 : 1, 4, 6);
  return matrices(make, lead, make.misfit() ? random_narrowing(make.random, lead) : lead);
}

KernelCase outer(CaseMaker& make) {
  const int most_dims = make.misfit() ? 6 : 4;
  const std::int64_t most_elements = make.budget > 1000 ? 60 : 12;
  Tile a = make.tile(random_shape(make.random, 0, most_dims, most_elements));
  return make.made(
      {std::move(a), make.tile(random_shape(make.random, 0, most_dims, most_elements))});
}

KernelCase inner(CaseMaker& make) {
  const Shape shape = make.shape();
  Tile a = make.tile(shape);
  return make.made({std::move(a), make.tile(make.misfit() ? make.shape() : shape)});
}

KernelCase sampled_matmul(CaseMaker& make) {
  const auto [m, k, n] = random_extents(make);
  Params params;
  if (make.random.chance(0.5)) params.set("transpose_b", make.random.chance(0.6));
  if (make.random.chance(0.5)) params.set("use_mask_values", make.random.chance(0.4));
  const bool transposed = params.has("transpose_b") && params.flag("transpose_b");
  Tile mask = make.tile(make.misfit() ? make.shape() : Shape{m, n});
  Tile a = make.tile(make.misfit() ? make.shape() : Shape{m, k});
  Tile b = make.tile(joined({}, make.misfit() ? k + 1 : k, n, transposed));
  return make.made({std::move(mask), std::move(a), std::move(b)}, std::move(params));
}

/// A number for each dimension, or one for all.
ParamValue random_setting(CaseMaker& make, int dims, std::int64_t least, std::int64_t most) {
  if (make.random.chance(0.5)) return make.random.between(least, most);
  std::vector<std::int64_t> values(dims);
  for (std::int64_t& value : values) value = make.random.between(least, most);
  if (make.misfit()) values.push_back(1);
  return values;
}

KernelCase conv(CaseMaker& make) {
  Random& random = make.random;
  const int dims = static_cast<int>(random.between(1, 3));
  const bool large = make.budget > 1000;
  const std::int64_t channels = large && random.chance(0.3) ? 17 : make.extent(3);
  const std::int64_t most_extent = dims == 3 ? 4 : large ? 12 : 7;
  Shape input;
  if (random.chance(0.5)) input.push_back(make.extent(3));
  input.push_back(channels);
  Shape weights = {large && random.chance(0.3) ? 16 : make.extent(3),
                   make.misfit() ? make.extent(3) : channels};
  for (int d = 0; d < dims; ++d) {
    const std::int64_t extent = make.extent(most_extent);
    input.push_back(extent);
    weights.push_back(make.misfit() ? make.extent(9)
                                    : random.between(1, std::clamp<std::int64_t>(extent, 1, 3)));
  }
  Params params;
  if (random.chance(0.6)) params.set("stride", random_setting(make, dims, 1, 3));
  if (random.chance(0.6)) params.set("padding", random_setting(make, dims, 0, 3));
  if (make.misfit()) params.set("stride", std::int64_t{0});
  Tile image = make.tile(make.misfit() ? make.shape() : input);
  return make.made({std::move(image), make.tile(weights)}, std::move(params));
}

}  // namespace

Generators product_generators() {
  return {{"matmul", matmul}, {"batched_matmul", batched_matmul}, {"outer", outer},
          {"inner", inner},   {"sampled_matmul", sampled_matmul}, {"conv", conv}};
}

}  // namespace tessera
