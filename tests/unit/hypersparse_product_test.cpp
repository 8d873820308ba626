// Products of sparse matrices whose extents are far beyond the number of their entries.

#include <gtest/gtest.h>

#include "base/memory_account.h"
#include "support/expectations.h"
#include "tessera/kernel.h"

namespace tessera {
namespace {

constexpr std::int64_t far = 1'000'000'000;

struct Entry {
  std::int64_t row, column;
  double value;
};

/// Entries in row-major order.
Tile matrix(std::int64_t rows, std::int64_t columns, int sparse_dims, DType dtype,
            const std::vector<Entry>& entries) {
  SparseBuilder builder({DType::f64, {rows, columns}, sparse_dims});
  for (const Entry& entry : entries) {
    if (sparse_dims == 2)
      builder.add(0, entry.row * columns + entry.column, entry.value);
    else
      builder.add(entry.row, entry.column, entry.value);
  }
  return std::move(builder).publish().cast(dtype);
}

std::vector<std::int64_t> positions(const Tile& tile) {
  return {tile.coordinates(), tile.coordinates() + tile.stored()};
}

TEST(HypersparseProduct, TakesMemoryForItsEntriesAlone) {
  const OpenAccount limited(std::make_shared<MemoryAccount>(1'000'000));
  for (const DType dtype : {DType::f64, DType::f32, DType::i64, DType::boolean})
    for (const char* call : {"matmul", "matmul(transpose_a=true)", "matmul(transpose_b=true)",
                             "matmul(transpose_a=true, transpose_b=true)"}) {
      const Tile g = matrix(far, far, 2, dtype, {{far - 1, far - 1, 3}});
      const Tile product = KernelCall(call)({g, g});
      EXPECT_EQ(product.type(), (TileType{dtype, {far, far}, 2}));
      EXPECT_EQ(positions(product), (std::vector{far * far - 1}));
      EXPECT_EQ(product.cast(DType::f64).values<double>()[0], dtype == DType::boolean ? 1 : 9);
    }
}

TEST(HypersparseProduct, SumsWhatMeetsAndLeavesOutTheRest) {
  const Tile a = matrix(far, far, 2, DType::f64, {{3, 10, 2}, {3, far - 2, 5}, {7, 11, 1}});
  const Tile b =
      matrix(far, far, 2, DType::f64, {{10, 0, 1}, {10, far - 1, 4}, {12, 5, 1}, {far - 2, 0, 10}});
  const Tile product = KernelCall("matmul")({a, b});
  EXPECT_EQ(positions(product), (std::vector<std::int64_t>{3 * far, 3 * far + far - 1}));
  EXPECT_EQ(product.values<double>()[0], 52);
  EXPECT_EQ(product.values<double>()[1], 8);
}

TEST(HypersparseProduct, WithVectorsAndOtherLayouts) {
  SparseBuilder builder({DType::f64, {far}, 1});
  builder.add(0, 5, 2.0);
  builder.add(0, far - 1, 3.0);
  const Tile v = std::move(builder).publish();
  const Tile g = matrix(far, far, 2, DType::f64, {{5, 8, 7}, {far - 1, far - 1, 1}});
  const Tile left = KernelCall("matmul")({v, g}), right = KernelCall("matmul")({g, v});
  EXPECT_EQ(positions(left), (std::vector<std::int64_t>{8, far - 1}));
  EXPECT_EQ(left.values<double>()[0], 14);
  EXPECT_EQ(positions(right), (std::vector<std::int64_t>{far - 1}));
  EXPECT_EQ(right.values<double>()[0], 3);
  // Few rows, which have an offset each, and columns without end.
  const Tile wide = matrix(2, far, 1, DType::f64, {{0, 5, 1}, {1, far - 1, 2}});
  const Tile product = KernelCall("matmul")({wide, g});
  EXPECT_EQ(product.type(), (TileType{DType::f64, {2, far}, 1}));
  EXPECT_EQ(positions(product), (std::vector<std::int64_t>{8, far - 1}));
  const Tile square = KernelCall("matmul(transpose_b=true)")({wide, wide});
  EXPECT_TILE_EQ(square.dense(), matrix(2, 2, 1, DType::f64, {{0, 0, 1}, {1, 1, 4}}).dense());
  const Tile none = KernelCall("matmul")({wide, Tile::zeros(DType::f64, {far, far}, 2)});
  EXPECT_EQ(none.stored(), 0);
}

/// The two ways give the same, to the last bit: the extents alone decide which one is taken.
TEST(HypersparseProduct, IsThatOfTheSameEntriesInSmallerMatrices) {
  const TileType small{DType::f64, {60, 60}, 2};
  const Tile a = random_sparse(small, 1, 0.2), b = random_sparse(small, 2, 0.2);
  const auto enlarged = [](const Tile& tile) {
    return KernelCall("pad(before=[0, 0], after=[99940, 99940])")({tile});
  };
  for (const char* call : {"matmul", "matmul(transpose_a=true)", "matmul(transpose_b=true)"}) {
    const Tile large = KernelCall(call)({enlarged(a), enlarged(b)});
    EXPECT_TILE_EQ(large.slice({0, 0}, {60, 60}).dense(), KernelCall(call)({a, b}).dense());
    EXPECT_EQ(large.stored(), KernelCall(call)({a, b}).stored());
  }
}

}  // namespace
}  // namespace tessera
