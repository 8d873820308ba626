// Work on relations that are larger than memory may be, each in a process of its own so that its
// peak can be seen: bench/out_of_core.py runs this and compares.

#include <fcntl.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/file.h"
#include "guarded.h"
#include "resident.h"
#include "tessera/tessera.h"
#include "timing.h"

namespace tessera::bench {
namespace {

std::vector<std::filesystem::path> segments_of(const Database& database) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(database.folder() / "segments"))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

/// What was read before is read from disk again.
void forget_cached(const Database& database) {
  for (const auto& path : segments_of(database)) {
    const File file = File::open(path);
    (void)::fsync(file.descriptor());
    (void)::posix_fadvise(file.descriptor(), 0, 0, POSIX_FADV_DONTNEED);
  }
}

void print(double seconds, const RunReport& report) {
  fmt::print(
      "{{\"seconds\": {:.4f}, \"resident\": {}, \"held\": {}, \"read\": {}, \"spilled\": {}}}\n",
      seconds, peak_resident(), report.peak_bytes, report.bytes_read, report.bytes_spilled);
}

/// A square matrix of random numbers, made a tile at a time.
void make(Database& database, const std::string& name, std::int64_t extent, std::int64_t tile,
          std::uint64_t seed) {
  const std::int64_t count = extent / tile;
  const RelationType type{{{"", {DType::f64, {tile, tile}}}}, {count, count}};
  database.store(
      name, Plan::input(type, [=](const Key& key) {
        return std::vector<Tile>{random_uniform(
            DType::f64, {tile, tile}, seed + static_cast<std::uint64_t>(key[0] * count + key[1]))};
      }));
}

void multiply(Database& database, const RunOptions& options) {
  RunReport report;
  const double seconds = seconds_of([&] {
    const Plan product =
        database.plan("A").join(database.plan("B"), {1}, {0}, "matmul").aggregate({0, 2}, "add");
    database.store("C", product, options, &report);
  });
  print(seconds, report);
  database.drop("C");
  (void)database.vacuum();
}

void chain(Database& database, const RunOptions& options) {
  forget_cached(database);
  RunReport report;
  const double seconds = seconds_of([&] {
    const Plan sum = database.plan("X")
                         .transform("mul_scalar(value=2)")
                         .transform("add_scalar(value=1)")
                         .transform("sqrt")
                         .transform("sum(axes=[0, 1])")
                         .aggregate({}, "add");
    (void)run(sum, options, &report);
  });
  print(seconds, report);
}

/// The rate of the disk: every segment from its beginning to its end, in large pieces.
void scan(const Database& database) {
  forget_cached(database);
  std::int64_t bytes = 0;
  const double seconds = seconds_of([&] {
    std::vector<std::byte> piece(8 << 20);
    for (const auto& path : segments_of(database)) {
      const File file = File::open(path);
      (void)::posix_fadvise(file.descriptor(), 0, 0, POSIX_FADV_SEQUENTIAL);
      std::int64_t at = 0;
      while (const std::size_t count = file.read_some(at, piece))
        at += static_cast<std::int64_t>(count);
      bytes += at;
    }
  });
  RunReport report;
  report.bytes_read = bytes;
  print(seconds, report);
}

int main_of(const std::vector<std::string>& arguments) {
  const std::string& what = arguments.at(0);
  Database database = Database::open(arguments.at(1));
  if (what == "make") {
    make(database, arguments.at(2), std::stoll(arguments.at(3)), std::stoll(arguments.at(4)), 1);
    return 0;
  }
  RunOptions options;
  if (arguments.size() > 2) options.memory_limit = parse_bytes(arguments.at(2));
  if (what == "multiply") multiply(database, options);
  if (what == "chain") chain(database, options);
  if (what == "scan") scan(database);
  return 0;
}

}  // namespace
}  // namespace tessera::bench

int main(int argc, char** argv) {
  return tessera::bench::guarded(argc, argv, tessera::bench::main_of);
}
