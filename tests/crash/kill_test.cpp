#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <iostream>
#include <thread>

#include "crash/aftermath.h"
#include "crash/disk.h"
#include "crash/processes.h"
#include "store/catalog_file.h"
#include "support/old_database.h"

// Writers that are killed. What they had acknowledged is there, and nothing half done.

namespace tessera::crash {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

constexpr seconds killed_patience(60);

Database compressing(const fs::path& folder) { return Database::open(folder, {.compress = true}); }

/// Statements until the end of the process, or until there are so many.
void write_until(const fs::path& folder, History& history, std::size_t most, Workload workload) {
  Database plain = Database::open(folder), other = compressing(folder);
  while (history.size() < most && !history.full()) workload.run_one(plain, other, history);
}

TEST(Killed, AtRandomTimes) {
  const Folder folder;
  std::mt19937_64 random(seed_or(1));
  const Shared<std::array<History, 2>> histories;
  Expected expected;
  fs::path database;
  std::size_t begun = 0, in_doubt = 0;
  for (int run = 0; run < runs_or(150); ++run) {
    const std::uint64_t seed = random();
    SCOPED_TRACE(::testing::Message() << "run " << run << ", seed " << seed);
    if (run % 25 == 0) {  // making a database is a time to be killed as well
      database = folder / std::to_string(run);
      expected = {};
    }
    for (History& history : *histories) history.clear();
    const pid_t writer = start([&] {
      // Two threads, each with names of its own, on handles of their own.
      std::jthread other([&] {
        write_until(database, (*histories)[1], History::most,
                    Workload('b', seed + 1, expected.contents));
      });
      write_until(database, (*histories)[0], History::most, Workload('a', seed, expected.contents));
    });
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 40'000));
    // There is more to write than it has time for: one that has ended has failed.
    EXPECT_TRUE(kill_and_wait(writer));
    for (const History& history : *histories) {
      begun += history.size();
      expected.add(history);
    }
    in_doubt += expected.perhaps.size();
    verify(database, expected);
    if (::testing::Test::HasFailure()) return;
  }
  std::cout << begun << " statements, " << in_doubt << " of them under way when it was killed\n";
  if (runs_or(150) < 50) return;  // so few may all have come before the first
  EXPECT_GT(begun, in_doubt);
  EXPECT_GT(in_doubt, 0);
}

/// A fixed list of statements, killed before each of its calls in turn.
class EachCall : public ::testing::TestWithParam<disk_fault> {};

TEST_P(EachCall, OfAFewStatements) {
  const Folder folder;
  const Shared<History> history;
  for (std::int64_t at = 1;; ++at) {
    SCOPED_TRACE(::testing::Message() << "killed at call " << at);
    const fs::path database = folder / "database";
    fs::remove_all(database);
    history->clear();
    const pid_t writer = start([&] {
      disk_set(database.c_str(), GetParam(), disk_any, at, 1);
      write_until(database, *history, 9, Workload('a', seed_or(46), {}, true));
    });
    bool killed = false;
    const bool well = wait_for(writer, killed_patience, &killed);
    ASSERT_NE(well, killed);
    Expected expected;
    expected.add(*history);
    verify(database, expected);
    if (::testing::Test::HasFailure()) return;
    if (killed) continue;
    EXPECT_EQ(history->size(), 9);
    EXPECT_GT(at, 9) << "calls, of so many statements";
    return;
  }
}

INSTANTIATE_TEST_SUITE_P(Killed, EachCall, ::testing::Values(disk_kill, disk_tear),
                         [](const auto& of) {
                           return of.param == disk_kill ? "Before" : "Amidst";
                         });

TEST(Killed, AtEachCallOfAnUpgrade) {
  const Folder folder;
  const fs::path old = folder / "old", database = folder / "database";
  Expected expected{{{"A", small(1)}}, {}};
  Database::open(old).store("A", relation_of(small(1)));
  make_old(old, 2);
  for (std::int64_t at = 1;; ++at) {
    SCOPED_TRACE(::testing::Message() << "killed at call " << at);
    fs::remove_all(database);
    fs::copy(old, database, fs::copy_options::recursive);
    const pid_t writer = start([&] {
      disk_set(database.c_str(), at % 2 == 0 ? disk_kill : disk_tear, disk_any, (at + 1) / 2, 1);
      (void)Database::open(database);
    });
    bool killed = false;
    const bool well = wait_for(writer, killed_patience, &killed);
    ASSERT_NE(well, killed);
    verify(database, expected);
    Database::open(database).change({.texts = {{"a.text", "b"}}});
    EXPECT_TRUE(Database::open(database).check().empty());
    if (::testing::Test::HasFailure() || !killed) {
      EXPECT_GT(at, 4);
      return;
    }
  }
}

/// Somebody who looks into the catalogue now and then, and always has it open.
void look_on(const fs::path& database) {
  store::CatalogFile catalog(database, store::Sync::always);
  for (;;) {
    (void)catalog.now();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST(Killed, AtRandomCallsBesideSomebodyWhoReads) {
  const Folder folder;
  std::mt19937_64 random(seed_or(2));
  const Shared<History> history;
  Expected expected;
  fs::path database;
  for (int run = 0; run < runs_or(150); ++run) {
    const std::uint64_t seed = random();
    SCOPED_TRACE(::testing::Message() << "run " << run << ", seed " << seed);
    if (run % 30 == 0) {
      database = folder / std::to_string(run);
      expected = {};
      (void)Database::open(database);
    }
    const pid_t reader = start([&] { look_on(database); });
    for (int writers = 0; writers < 3; ++writers) {
      history->clear();
      const pid_t writer = start([&] {
        const auto at = static_cast<std::int64_t>(random() % (writers == 0 ? 150 : 12)) + 1;
        disk_set(database.c_str(), seed % 2 == 0 ? disk_kill : disk_tear, disk_any, at, 1);
        // Who does not know what became of the last statement only touches what is its own.
        write_until(database, *history, History::most,
                    Workload(static_cast<char>('a' + writers), seed + writers,
                             writers == 0 ? expected.contents : Contents{}, run % 4 != 0));
      });
      random.discard(1);
      bool killed = false;
      wait_for(writer, killed_patience, &killed);
      ASSERT_TRUE(killed);
      expected.add(*history);
    }
    EXPECT_TRUE(kill_and_wait(reader));
    verify(database, expected);
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace tessera::crash
