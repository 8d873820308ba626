#include <gtest/gtest.h>

#include "crash/aftermath.h"
#include "crash/disk.h"
#include "crash/processes.h"

// Disks that fail: a statement says so or succeeds, the process and the database live on.

namespace tessera::crash {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds patience(120);

/// What a process saw that worked while its disk failed, besides its statements.
struct Seen {
  History history;
  std::int64_t faults = 0;
  std::size_t before_well = 0;  // statements until the disk was well again
  char open_failed[400] = {};
};

struct Failure {
  disk_fault fault;
  disk_call call;
  std::int64_t at, times;
};

/// Statements while the disk fails, then more when it is well again, all in one process.
void write_through(const fs::path& folder, const Failure& failure, Workload workload, Seen& seen) {
  disk_set(folder.c_str(), failure.fault, failure.call, failure.at, failure.times);
  try {
    Database plain = Database::open(folder), other = Database::open(folder, {.compress = true});
    for (int i = 0; i < 8; ++i) workload.run_one(plain, other, seen.history);
  } catch (const IoError& error) {
    std::snprintf(seen.open_failed, sizeof seen.open_failed, "%s", error.what());
  }
  seen.faults = disk_faults();
  seen.before_well = seen.history.size();
  disk_set(folder.c_str(), disk_well, disk_any, 0, 0);
  Database plain = Database::open(folder), other = Database::open(folder, {.compress = true});
  for (int i = 0; i < 4; ++i) workload.run_one(plain, other, seen.history);
}

class FailingDisk : public ::testing::TestWithParam<disk_fault> {};

TEST_P(FailingDisk, FailsStatementsAndNothingElse) {
  const Folder folder;
  std::mt19937_64 random(seed_or(3));
  Expected expected;
  fs::path database;
  std::int64_t faults = 0, failed = 0;
  for (int run = 0; run < runs_or(50); ++run) {
    const std::uint64_t seed = random();
    SCOPED_TRACE(::testing::Message() << "run " << run << ", seed " << seed);
    if (run % 10 == 0) {
      database = folder / std::to_string(run);
      expected = {};
    }
    const disk_call calls[] = {disk_any, disk_write, disk_sync, disk_create, disk_truncate};
    const std::int64_t times[] = {1, 2, 5, 0};
    const Failure failure{GetParam(), calls[random() % 5],
                          static_cast<std::int64_t>(random() % 60) + 1, times[random() % 4]};
    // A call that is always interrupted is one that never ends.
    if (failure.fault == disk_interrupt && failure.times == 0) continue;
    const Shared<Seen> seen;
    const pid_t writer = start(
        [&] { write_through(database, failure, Workload('a', seed, expected.contents), *seen); });
    EXPECT_TRUE(wait_for(writer, patience));
    faults += seen->faults;
    for (std::size_t i = 0; i < seen->history.size(); ++i) {
      const Step& step = seen->history[i];
      if (step.state == Step::State::done) continue;
      ++failed;
      EXPECT_TRUE(std::string(step.message).starts_with("IoError: ")) << to_string(step);
      EXPECT_LT(i, seen->before_well) << "the disk was well again\n" << to_string(step);
      EXPECT_NE(GetParam(), disk_short) << to_string(step);
    }
    expected.add(seen->history);
    verify(database, expected);
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(faults, 0);
  if (GetParam() == disk_no_space || GetParam() == disk_io_error) EXPECT_GT(failed, 0);
  std::cout << faults << " calls failed, and " << failed << " statements\n";
}

std::string name_of(const ::testing::TestParamInfo<disk_fault>& of) {
  switch (of.param) {
    case disk_short: return "Short";
    case disk_no_space: return "NoSpace";
    case disk_io_error: return "IoError";
    default: return "Interrupt";
  }
}

INSTANTIATE_TEST_SUITE_P(All, FailingDisk,
                         ::testing::Values(disk_short, disk_no_space, disk_io_error,
                                           disk_interrupt),
                         name_of);

}  // namespace
}  // namespace tessera::crash
