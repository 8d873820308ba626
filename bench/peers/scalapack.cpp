/// C = A B by ScaLAPACK's pdgemm, block-cyclic over a grid of ranks; prints the seconds of each
/// repetition as a line of JSON.
///
///   --shape MxKxN  --form nn|tn|nt (tn: A is stored transposed; nt: B is)  --grid PxQ (default:
///   the squarest)  --block NB (of the distribution)  --panel NB (what pdgemm works through at a
///   time; 0: the library's own)  --repeat R  --check

#include <array>
#include <cmath>

#include "multiplication.h"

// ScaLAPACK comes without headers.
extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cblacs_gridinfo(int context, int* rows, int* columns, int* row, int* column);
void Cblacs_gridexit(int context);
void descinit_(int* descriptor, const int* rows, const int* columns, const int* row_block,
               const int* column_block, const int* first_row, const int* first_column,
               const int* context, const int* stride, int* info);
void pdgemm_(const char* form_a, const char* form_b, const int* m, const int* n, const int* k,
             const double* alpha, const double* a, const int* ia, const int* ja, const int* desc_a,
             const double* b, const int* ib, const int* jb, const int* desc_b, const double* beta,
             double* c, const int* ic, const int* jc, const int* desc_c);
}

namespace {

int panel = 0;

/// The positions, of `extent`, that are in the blocks of one row or column of the grid.
std::vector<int> positions(int extent, int block, int which, int of) {
  std::vector<int> result;
  for (int i = 0; i < extent; ++i) {
    if (i / block % of == which) result.push_back(i);
  }
  return result;
}

struct Matrix {
  std::vector<double> storage;
  peers::Part part;
  std::array<int, 9> descriptor{};

  Matrix(int context, int rows, int columns, int block, bool transposed) {
    if (transposed) std::swap(rows, columns);
    int p = 0, q = 0, row = 0, column = 0;
    Cblacs_gridinfo(context, &p, &q, &row, &column);
    part.rows = positions(rows, block, row, p);
    part.columns = positions(columns, block, column, q);
    part.transposed = transposed;
    part.stride = std::max<std::size_t>(part.rows.size(), 1);
    storage.resize(part.stride * std::max<std::size_t>(part.columns.size(), 1));
    part.data = storage.data();
    const int zero = 0;
    const int stride = static_cast<int>(part.stride);
    int info = 0;
    descinit_(descriptor.data(), &rows, &columns, &block, &block, &zero, &zero, &context, &stride,
              &info);
    if (info != 0) throw std::runtime_error(fmt::format("descinit says {}", info));
  }
};

std::string squarest(int count) {
  int rows = static_cast<int>(std::sqrt(count));
  while (count % rows != 0) --rows;
  return fmt::format("{}x{}", rows, count / rows);
}

void run(const peers::Options& options) {
  const std::string& form = options["--form"];
  if (form != "nn" && form != "tn" && form != "nt")
    throw std::invalid_argument(fmt::format("--form is nn, tn or nt, not '{}'", form));
  const std::vector<int> grid = peers::extents(options["--grid"], 2);
  if (grid[0] * grid[1] != peers::ranks()) {
    throw std::invalid_argument(
        fmt::format("--grid {} is not for {} ranks", options["--grid"], peers::ranks()));
  }
  const int block = options.number("--block");
  panel = options["--panel"] == "0" ? 0 : options.number("--panel");

  int context = 0;
  Cblacs_get(-1, 0, &context);
  Cblacs_gridinit(&context, "Row", grid[0], grid[1]);
  const Matrix a(context, options.m, options.k, block, form[0] == 't');
  const Matrix b(context, options.k, options.n, block, form[1] == 't');
  Matrix c(context, options.m, options.n, block, false);
  a.part.fill(peers::left);
  b.part.fill(peers::right);
  c.part.poison();

  const auto multiply = [&] {
    const int one = 1;
    const double alpha = 1;
    const double beta = 0;
    pdgemm_(form.data(), form.data() + 1, &options.m, &options.n, &options.k, &alpha, a.part.data,
            &one, &one, a.descriptor.data(), b.part.data, &one, &one, b.descriptor.data(), &beta,
            c.part.data, &one, &one, c.descriptor.data());
  };
  peers::measure(options, "scalapack",
                 fmt::format(R"("grid": "{}", "block": {}, "panel": {}, )", options["--grid"],
                             block, options["--panel"]),
                 multiply);
  if (options.check) peers::check(options, a.part, b.part, c.part);
  Cblacs_gridexit(context);
}

}  // namespace

/// ScaLAPACK asks this function how wide a panel the parallel BLAS should work through at a time,
/// and lets a program replace it; the library's own answers 32.
extern "C" int pilaenv_(const int* /*context*/, const char* /*precision*/) {
  return panel > 0 ? panel : 32;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  peers::guarded([&] {
    run(peers::Options(argc, argv,
                       {{"--shape", "4000x4000x4000"},
                        {"--form", "nn"},
                        {"--grid", squarest(peers::ranks())},
                        {"--block", "256"},
                        {"--panel", "0"},
                        {"--repeat", "1"}}));
  });
  MPI_Finalize();
}
