#include "kernel/linear_solve.h"

#include "base/check.h"
#include "kernel/arguments.h"
#include "kernel/lapack.h"
#include "kernel/matrix_stack.h"
#include "tile/dispatch.h"

namespace tessera {
namespace {

/// The right-hand sides of solve(a, b), as NumPy reads them: one dimension is a vector for each
/// matrix; two or more are a stack of matrices, whose leading dimensions broadcast with a's.
struct System {
  DType dtype = DType::f64;
  Shape matrices = {};  // of a, after broadcasting
  Shape sides = {};     // of b, after broadcasting, a vector as a single column
  Shape result = {};
};

Shape common_lead(const TileType& a, const TileType& b) {
  try {
    return broadcast_shapes(MatrixStack(a.shape).lead, MatrixStack(b.shape).lead);
  } catch (const TypeError&) {
    throw TypeError(
        fmt::format("solve: {} and {} cannot be broadcast together: the dimensions before the last "
                    "two must be equal or 1, counted from the last one; reshape one of them",
                    to_string(a), to_string(b)));
  }
}

System system_of(const TileType& a, const TileType& b) {
  require_square("solve", a);
  const std::int64_t n = a.shape.back();
  const bool is_vector = b.shape.rank() == 1;
  TESSERA_REQUIRE(TypeError,
                  b.shape.rank() >= 1 && b.shape[b.shape.size() - (is_vector ? 1 : 2)] == n,
                  "solve: {} and {} do not match: the right-hand side must be a vector of {} "
                  "elements, or have {} rows",
                  to_string(a), to_string(b), n, n);
  if (!is_vector) require_matrix("solve", b);
  const std::int64_t columns = is_vector ? 1 : b.shape.back();
  System system{.dtype = float_of(promote(a.dtype, b.dtype)),
                .matrices = is_vector ? MatrixStack(a.shape).lead : common_lead(a, b)};
  system.sides = system.matrices;
  system.result = system.matrices;
  for (std::int64_t extent : {n, n}) system.matrices.push_back(extent);
  for (std::int64_t extent : {n, columns}) system.sides.push_back(extent);
  system.result.push_back(n);
  if (!is_vector) system.result.push_back(columns);
  return system;
}

std::vector<TileType> infer(Types types, const Params&) {
  const System system = system_of(types[0], types[1]);
  return {{system.dtype, system.result}};
}

Cost cost(Types types, const Params&) {
  const System system = system_of(types[0], types[1]);
  const MatrixStack sides(system.sides);
  const auto n = static_cast<double>(sides.rows);
  const double eliminations = 2 * n * n * n / 3;
  const double substitutions = 2 * n * n * static_cast<double>(sides.columns);
  return {
      static_cast<double>(sides.count) * (eliminations + substitutions),
      dense_bytes(types[0]) + dense_bytes(types[1]) + dense_bytes({system.dtype, system.result})};
}

std::vector<Tile> run(Tiles tiles, const Params&) {
  const System system = system_of(tiles[0].type(), tiles[1].type());
  const MatrixStack stack(system.matrices);
  const std::int64_t n = stack.rows;
  const std::int64_t columns = system.sides.back();
  const Tile b = tiles[1].rank() == 1 ? tiles[1].reshape({n, 1}) : tiles[1];
  MutableTile a = working_copy(tiles[0].broadcast(system.matrices), system.dtype);
  MutableTile x = working_copy(swap_last_two(b.broadcast(system.sides)), system.dtype);
  visit_float(system.dtype, [&]<class T>() {
    T* first = x.data<T>();
    for_each_matrix(stack, a.data<T>(), [&](std::int64_t i, T* matrix) {
      const int pivot = lapack::solve(n, columns, matrix, first + i * n * columns);
      require_regular("solve", stack, i, pivot);
    });
  });
  const Tile solution = swap_last_two(std::move(x).publish());
  return {tiles[1].rank() == 1 ? solution.reshape(system.result) : solution};
}

}  // namespace

Kernel solve_kernel() {
  Properties properties;
  properties.annihilated_by = {1};
  properties.linear_in = {1};
  properties.distributes_over = {{"add", 1}, {"sub", 1}};
  return {
      .name = "solve",
      .description = "the x for which the matrix product of a and x is b",
      .min_arguments = 2,
      .max_arguments = 2,
      .properties = properties,
      .infer = infer,
      .cost = cost,
      .implementations = {{.name = "getrf_getrs", .layouts = {LayoutPattern::dense}, .run = run}}};
}

}  // namespace tessera
