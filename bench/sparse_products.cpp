/// Our sparse products against SuiteSparse:GraphBLAS on the same random matrices, one JSON line a
/// case: medians in milliseconds, and our time over that of GraphBLAS on one and on two threads
/// (ours use one). Conversions lie outside the timing. GraphBLAS leaves the rows of a product
/// unsorted until somebody asks for them in order, as ours always are, so that products of two
/// sparse matrices are timed both without and with that.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "tessera/kernel.h"

extern "C" {
#include <GraphBLAS.h>
}

namespace {

using tessera::DType;
using tessera::KernelCall;
using tessera::Tile;

constexpr std::int64_t width = 64;  // of dense operands
constexpr int repetitions = 9;

/// As many columns a row as `degrees` says, each drawn by `column`.
template <class Column>
Tile random_matrix(std::int64_t n, const std::vector<std::int64_t>& degrees, Column&& column,
                   std::mt19937_64& random) {
  std::uniform_real_distribution<double> value(0, 1);
  tessera::SparseBuilder builder({DType::f64, {n, n}, 1});
  std::vector<std::int64_t> columns;
  for (std::int64_t i = 0; i < n; ++i) {
    columns.clear();
    for (std::int64_t d = 0; d < degrees[i]; ++d) columns.push_back(column(random));
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    for (std::int64_t j : columns) builder.add(i, j, value(random) + 0.5);
  }
  return std::move(builder).publish();
}

Tile uniform(std::int64_t n, double density, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::poisson_distribution<std::int64_t> degree(static_cast<double>(n) * density);
  std::vector<std::int64_t> degrees(n);
  for (auto& d : degrees) d = degree(random);
  return random_matrix(n, degrees, std::uniform_int_distribution<std::int64_t>(0, n - 1), random);
}

/// Few rows have most entries: the i-th largest has a number that falls as i^-0.8. Columns are
/// skewed towards the first ones.
Tile power_law(std::int64_t n, double mean_degree, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> weights(n);
  for (std::int64_t i = 0; i < n; ++i) weights[i] = std::pow(static_cast<double>(i + 1), -0.8);
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<std::int64_t> degrees(n);
  for (std::int64_t i = 0; i < n; ++i)
    degrees[i] = std::llround(weights[i] / total * mean_degree * static_cast<double>(n));
  std::shuffle(degrees.begin(), degrees.end(), random);
  std::uniform_real_distribution<double> unit(0, 1);
  const auto skewed = [&](std::mt19937_64& r) {
    return static_cast<std::int64_t>(std::pow(unit(r), 2) * static_cast<double>(n));
  };
  return random_matrix(n, degrees, skewed, random);
}

void check(GrB_Info info) {
  if (info != GrB_SUCCESS)
    throw std::runtime_error(fmt::format("GraphBLAS says {}", static_cast<int>(info)));
}

void use_threads(int threads) {
  check(GxB_Global_Option_set_INT32(static_cast<GxB_Option_Field>(GxB_NTHREADS), threads));
}

using Matrix = std::unique_ptr<GB_Matrix_opaque, void (*)(GrB_Matrix)>;

Matrix own(GrB_Matrix matrix) {
  return {matrix, [](GrB_Matrix m) { GrB_Matrix_free(&m); }};
}

Matrix empty(std::int64_t rows, std::int64_t columns) {
  GrB_Matrix matrix = nullptr;
  check(GrB_Matrix_new(&matrix, GrB_FP64, rows, columns));
  return own(matrix);
}

/// Memory that GraphBLAS may free, with a copy of the data.
template <class T>
void* handed_over(const T* data, std::int64_t count) {
  void* memory = std::malloc(count * sizeof(T));
  std::memcpy(memory, data, count * sizeof(T));
  return memory;
}

Matrix packed_sparse(const Tile& tile) {
  const std::int64_t n = tile.rows();
  Matrix matrix = empty(n, tile.shape()[1]);
  auto* offsets = static_cast<GrB_Index*>(handed_over(tile.offsets(), n + 1));
  auto* columns = static_cast<GrB_Index*>(handed_over(tile.coordinates(), tile.stored()));
  void* values = handed_over(tile.values<double>(), tile.stored());
  check(GxB_Matrix_pack_CSR(matrix.get(), &offsets, &columns, &values, (n + 1) * sizeof(GrB_Index),
                            tile.stored() * sizeof(GrB_Index), tile.stored() * sizeof(double),
                            false, false, nullptr));
  return matrix;
}

Matrix packed_dense(const Tile& tile) {
  Matrix matrix = empty(tile.shape()[0], tile.shape()[1]);
  void* values = handed_over(tile.data<double>(), tile.elements());
  check(GxB_Matrix_pack_FullR(matrix.get(), &values, tile.elements() * sizeof(double), false,
                              nullptr));
  return matrix;
}

Matrix multiplied(const Matrix& a, const Matrix& b, const Matrix* mask, GrB_Descriptor descriptor) {
  GrB_Index rows = 0;
  GrB_Index columns = 0;
  check(GrB_Matrix_nrows(&rows, mask != nullptr ? mask->get() : a.get()));
  check(GrB_Matrix_ncols(&columns, mask != nullptr ? mask->get() : b.get()));
  Matrix c = empty(static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns));
  check(GrB_mxm(c.get(), mask != nullptr ? mask->get() : nullptr, nullptr,
                GrB_PLUS_TIMES_SEMIRING_FP64, a.get(), b.get(), descriptor));
  return c;
}

double sum_of(const Matrix& matrix) {
  double sum = 0;
  check(GrB_Matrix_reduce_FP64(&sum, nullptr, GrB_PLUS_MONOID_FP64, matrix.get(), nullptr));
  return sum;
}

double sum_of(const Tile& tile) {
  const auto* values = tile.data<double>();
  return std::accumulate(values, values + tile.stored(), 0.0);
}

struct Contestant {
  std::string name;
  int threads;
  std::function<void()> run;
};

/// The medians of the contestants, who take turns so that a busy machine disturbs all alike.
std::vector<double> race(const std::vector<Contestant>& contestants) {
  std::vector<std::vector<double>> times(contestants.size());
  for (int repetition = -1; repetition < repetitions; ++repetition) {
    for (std::size_t i = 0; i < contestants.size(); ++i) {
      use_threads(contestants[i].threads);
      const auto start = std::chrono::steady_clock::now();
      contestants[i].run();
      const std::chrono::duration<double, std::milli> time =
          std::chrono::steady_clock::now() - start;
      if (repetition >= 0) times[i].push_back(time.count());
    }
  }
  std::vector<double> medians;
  for (auto& t : times) {
    std::sort(t.begin(), t.end());
    medians.push_back(t[t.size() / 2]);
  }
  return medians;
}

void report(const std::string& matrix, const std::string& operation,
            const std::vector<Contestant>& contestants) {
  const std::vector<double> medians = race(contestants);
  for (std::size_t i = 1; i < contestants.size(); ++i)
    fmt::print(
        R"({{"name": "{} {}", "peer": "{}", "ours_ms": {:.4f}, "peer_ms": {:.4f}, "ratio": {:.4f}}})"
        "\n",
        operation, matrix, contestants[i].name, medians[0], medians[i], medians[0] / medians[i]);
  std::fflush(stdout);
}

void agree(const std::string& operation, double ours, double theirs) {
  if (std::abs(ours - theirs) > 1e-9 * std::abs(theirs))
    throw std::runtime_error(
        fmt::format("{}: ours sums to {}, GraphBLAS to {}", operation, ours, theirs));
}

void compare(const std::string& name, const Tile& a) {
  const std::int64_t n = a.shape()[0];
  const Tile x = tessera::random_uniform(DType::f64, {n, width}, 1);
  const Tile y = tessera::random_uniform(DType::f64, {n, width}, 2);
  const Matrix ga = packed_sparse(a);
  const Matrix gx = packed_dense(x);
  const Matrix gy = packed_dense(y);
  const KernelCall matmul("matmul");
  const KernelCall sampled("sampled_matmul(transpose_b=true, use_mask_values=false)");

  const auto sparse_dense = [&] { return multiplied(ga, gx, nullptr, nullptr); };
  const auto sparse_sparse = [&] { return multiplied(ga, ga, nullptr, nullptr); };
  const auto sparse_sparse_sorted = [&] {
    const Matrix c = sparse_sparse();
    check(GrB_Matrix_wait(c.get(), GrB_MATERIALIZE));
  };
  const auto sample = [&] { return multiplied(gx, gy, &ga, GrB_DESC_ST1); };
  agree("sparse_dense", sum_of(matmul({a, x})), sum_of(sparse_dense()));
  agree("sparse_sparse", sum_of(matmul({a, a})), sum_of(sparse_sparse()));
  agree("sampled", sum_of(sampled({a, x, y})), sum_of(sample()));

  report(name, "sparse x dense",
         {{"ours", 1,
           [&] {
             matmul({a, x});
           }},
          {"GraphBLAS, 1 thread", 1, [&] { sparse_dense(); }},
          {"GraphBLAS, 2 threads", 2, [&] { sparse_dense(); }}});
  report(name, "sparse x sparse",
         {{"ours", 1,
           [&] {
             matmul({a, a});
           }},
          {"GraphBLAS, 1 thread", 1, [&] { sparse_sparse(); }},
          {"GraphBLAS, 2 threads", 2, [&] { sparse_sparse(); }},
          {"GraphBLAS sorted, 1", 1, sparse_sparse_sorted},
          {"GraphBLAS sorted, 2", 2, sparse_sparse_sorted}});
  report(name, "sampled",
         {{"ours", 1,
           [&] {
             sampled({a, x, y});
           }},
          {"GraphBLAS, 1 thread", 1, [&] { sample(); }},
          {"GraphBLAS, 2 threads", 2, [&] { sample(); }}});
}

}  // namespace

int main() {
  check(GrB_init(GrB_NONBLOCKING));
  compare("uniform 1e3, 1%", uniform(1000, 1e-2, 1));
  compare("uniform 1e4, 0.1%", uniform(10000, 1e-3, 2));
  compare("uniform 1e5, 0.01%", uniform(100000, 1e-4, 3));
  compare("power law 2e4, 10 a row", power_law(20000, 10, 4));
  check(GrB_finalize());
}
