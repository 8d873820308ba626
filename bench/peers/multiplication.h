#pragma once
/// What the programs in this folder share: the data, which are the same matrices for every tool and
/// number of ranks, the options, the timing and the check of a product.

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace peers {

inline int rank() {
  int result = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &result);
  return result;
}

inline int ranks() {
  int result = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &result);
  return result;
}

/// "2x4" as {2, 4}.
inline std::vector<int> extents(const std::string& text, std::size_t count) {
  std::vector<int> result;
  const char* position = text.data();
  const char* const end = text.data() + text.size();
  for (;;) {
    int extent = 0;
    const auto [next, error] = std::from_chars(position, end, extent);
    if (error != std::errc{} || extent < 1) break;
    result.push_back(extent);
    position = next;
    if (position == end || *position != 'x') break;
    ++position;
  }
  if (position != end || result.size() != count)
    throw std::invalid_argument(
        fmt::format("'{}' should be {} positive numbers with x in between", text, count));
  return result;
}

/// The words of a command line: `--name value`, and `--check` alone.
class Options {
 public:
  /// `values` are the names that the program knows, with their defaults.
  Options(int argc, char** argv, std::map<std::string, std::string> values)
      : values_(std::move(values)) {
    for (int i = 1; i < argc; ++i) {
      const std::string name = argv[i];
      if (name == "--check") {
        check = true;
      } else if (values_.contains(name) && i + 1 < argc) {
        values_[name] = argv[++i];
      } else {
        std::string known;
        for (const auto& [option, value] : values_)
          known += fmt::format(" {} (default {})", option, value);
        throw std::invalid_argument(
            fmt::format("'{}' is unknown or lacks its value; there are:{} --check", name, known));
      }
    }
    const std::vector<int> shape = extents(values_.at("--shape"), 3);
    m = shape[0], k = shape[1], n = shape[2];
    repeat = number("--repeat");
  }

  const std::string& operator[](const std::string& name) const { return values_.at(name); }
  int number(const std::string& name) const { return extents(values_.at(name), 1)[0]; }

  int m = 0, k = 0, n = 0;  // C (m x n) = A (m x k) B (k x n), however they are stored
  int repeat = 1;
  bool check = false;

 private:
  std::map<std::string, std::string> values_;
};

/// U(-1, 1), a function of the position alone (SplitMix64's finalizer).
inline double element(std::uint64_t matrix, std::int64_t row, std::int64_t column) {
  std::uint64_t z =
      (matrix << 60) ^ (static_cast<std::uint64_t>(row) << 30) ^ static_cast<std::uint64_t>(column);
  z = (z + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1p-52 - 1;
}

constexpr std::uint64_t left = 1, right = 2,
                        probe = 3;  // numbers of the matrices A, B and of a vector

/// What this rank holds of a matrix: stored column by column, `stride` apart. The positions are
/// those of the stored matrix; when that is the transpose of the operand, `transposed` is true.
struct Part {
  std::vector<int> rows;
  std::vector<int> columns;
  bool transposed = false;
  double* data = nullptr;
  std::size_t stride = 0;

  /// Calls body(row of the operand, column of the operand, entry).
  template <class Body>
  void each(Body&& body) const {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      for (std::size_t r = 0; r < rows.size(); ++r) {
        double& entry = data[c * stride + r];
        if (transposed)
          body(columns[c], rows[r], entry);
        else
          body(rows[r], columns[c], entry);
      }
    }
  }

  void fill(std::uint64_t matrix) const {
    each([&](int row, int column, double& entry) { entry = element(matrix, row, column); });
  }

  /// An entry that the multiplication leaves alone will fail the check.
  void poison() const {
    each([&](int, int, double& entry) { entry = NAN; });
  }

  /// The product of the whole operand with a vector, on every rank.
  std::vector<double> times(const std::vector<double>& vector, int length) const {
    std::vector<double> result(static_cast<std::size_t>(length));
    each([&](int row, int column, double entry) { result[row] += entry * vector[column]; });
    MPI_Allreduce(MPI_IN_PLACE, result.data(), length, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return result;
  }
};

/// C x against A (B x) for a random x, and some entries of each rank's part of C against their
/// definition, which does not depend on how A and B were laid out.
inline void check(const Options& options, const Part& a, const Part& b, const Part& c) {
  std::vector<double> x(static_cast<std::size_t>(options.n));
  for (int j = 0; j < options.n; ++j) x[j] = element(probe, j, 0);
  const std::vector<double> expected = a.times(b.times(x, options.k), options.m);
  const std::vector<double> found = c.times(x, options.m);
  int wrong = 0;
  for (int i = 0; i < options.m; ++i) {
    // Sums of k n terms below 1. The negation catches NaN.
    if (!(std::abs(found[i] - expected[i]) <= 1e-14 * options.k * options.n)) ++wrong;
  }
  if (wrong > 0) throw std::runtime_error(fmt::format("{} entries of C x are wrong", wrong));

  const std::size_t entries = c.rows.size() * c.columns.size();
  for (std::size_t i = 0; i < std::min<std::size_t>(entries, 8); ++i) {
    const std::size_t at = (i * 2654435761 + i) % entries;
    const int row = c.rows[at % c.rows.size()];
    const int column = c.columns[at / c.rows.size()];
    const double entry = c.data[at / c.rows.size() * c.stride + at % c.rows.size()];
    double sum = 0;
    for (int l = 0; l < options.k; ++l) sum += element(left, row, l) * element(right, l, column);
    if (!(std::abs(entry - sum) <= 1e-14 * options.k)) {
      throw std::runtime_error(
          fmt::format("C[{}, {}] is {}, it should be {}", row, column, entry, sum));
    }
  }
}

/// A few bytes between every two ranks, so that the connections are open before anything is timed.
inline void connect() {
  for (int distance = 1; distance < ranks(); ++distance) {
    int sent = 0;
    int received = 0;
    MPI_Sendrecv(&sent, 1, MPI_INT, (rank() + distance) % ranks(), 0, &received, 1, MPI_INT,
                 (rank() + ranks() - distance) % ranks(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

/// Runs the multiplication as often as asked and prints a line of JSON each time. `settings` are
/// the members that only this tool has, as JSON.
template <class Multiply>
void measure(const Options& options, std::string_view tool, std::string_view settings,
             Multiply&& multiply) {
  connect();
  for (int repetition = 0; repetition < options.repeat; ++repetition) {
    MPI_Barrier(MPI_COMM_WORLD);
    double seconds = -MPI_Wtime();
    multiply();
    MPI_Barrier(MPI_COMM_WORLD);
    seconds += MPI_Wtime();
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank() == 0) {
      fmt::print(
          R"({{"tool": "{}", "form": "{}", "shape": "{}", "ranks": {}, {}"seconds": {:.6f}}})"
          "\n",
          tool, options["--form"], options["--shape"], ranks(), settings, seconds);
      std::fflush(stdout);
    }
  }
}

/// The body of main between MPI_Init and MPI_Finalize.
template <class Body>
void guarded(Body&& body) {
  try {
    body();
  } catch (const std::invalid_argument& error) {  // every rank has the same command line
    if (rank() == 0) fmt::print(stderr, "{}\n", error.what());
    MPI_Finalize();
    std::exit(2);
  } catch (const std::exception& error) {
    fmt::print(stderr, "rank {}: {}\n", rank(), error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

}  // namespace peers
