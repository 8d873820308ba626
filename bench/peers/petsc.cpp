/// C = A B of PETSc's dense matrices, whose rows are spread over the ranks; prints the seconds of
/// each repetition as a line of JSON.
///
///   --shape MxKxN  --form mmt|tmm (mmt: MatMatTransposeMult, B is stored transposed; tmm:
///   MatTransposeMatMult, A is)  --via cyclic|allgatherv (how mmt moves B)  --repeat R  --check

#include <petscmat.h>

#include <numeric>

#include "multiplication.h"

namespace {

void must(PetscErrorCode code) {
  if (code != 0) throw std::runtime_error(fmt::format("PETSc says {}", code));
}

struct Matrix {
  Mat handle = nullptr;
  peers::Part part;

  Matrix() = default;
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;
  ~Matrix() { MatDestroy(&handle); }

  void create(int rows, int columns, bool transposed) {
    if (transposed) std::swap(rows, columns);
    must(MatCreateDense(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, rows, columns, nullptr,
                        &handle));
    find_part(transposed);
  }

  /// The data stay where they are for as long as the matrix lives.
  void find_part(bool transposed) {
    PetscInt first = 0, last = 0, columns = 0, stride = 0;
    must(MatGetOwnershipRange(handle, &first, &last));
    must(MatGetSize(handle, nullptr, &columns));
    must(MatDenseGetLDA(handle, &stride));
    must(MatDenseGetArrayWrite(handle, &part.data));
    double* const data = part.data;
    must(MatDenseRestoreArrayWrite(handle, &part.data));
    part.data = data;
    part.rows.resize(static_cast<std::size_t>(last - first));
    std::iota(part.rows.begin(), part.rows.end(), first);
    part.columns.resize(static_cast<std::size_t>(columns));
    std::iota(part.columns.begin(), part.columns.end(), 0);
    part.transposed = transposed;
    part.stride = static_cast<std::size_t>(stride);
  }

  void assemble() const {
    must(MatAssemblyBegin(handle, MAT_FINAL_ASSEMBLY));
    must(MatAssemblyEnd(handle, MAT_FINAL_ASSEMBLY));
  }
};

void run(const peers::Options& options) {
  const std::string& form = options["--form"];
  const std::string& via = options["--via"];
  if (form != "mmt" && form != "tmm")
    throw std::invalid_argument(fmt::format("--form is mmt or tmm, not '{}'", form));
  if (via != "cyclic" && via != "allgatherv")
    throw std::invalid_argument(fmt::format("--via is cyclic or allgatherv, not '{}'", via));
  Matrix a;
  Matrix b;
  Matrix c;
  a.create(options.m, options.k, form == "tmm");
  b.create(options.k, options.n, form == "mmt");
  a.part.fill(peers::left);
  b.part.fill(peers::right);
  a.assemble();
  b.assemble();

  // MatMatTransposeMult and MatTransposeMatMult in their two halves: what allocates is not timed,
  // as it is not for the other tools.
  must(MatProductCreate(a.handle, b.handle, nullptr, &c.handle));
  must(MatProductSetType(c.handle, form == "mmt" ? MATPRODUCT_ABt : MATPRODUCT_AtB));
  if (form == "mmt") must(MatProductSetAlgorithm(c.handle, via.c_str()));
  must(MatProductSetFromOptions(c.handle));
  must(MatProductSymbolic(c.handle));
  c.find_part(false);
  c.part.poison();

  peers::measure(options, "petsc", form == "mmt" ? fmt::format(R"("via": "{}", )", via) : "",
                 [&] { must(MatProductNumeric(c.handle)); });
  if (options.check) peers::check(options, a.part, b.part, c.part);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  peers::guarded([&] {
    must(PetscInitializeNoArguments());
    run(peers::Options(argc, argv,
                       {{"--shape", "4000x4000x4000"},
                        {"--form", "mmt"},
                        {"--via", "cyclic"},
                        {"--repeat", "1"}}));
    must(PetscFinalize());
  });
  MPI_Finalize();
}
