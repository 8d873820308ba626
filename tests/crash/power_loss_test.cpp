#include "crash/power_loss.h"

#include <gtest/gtest.h>

#include "crash/aftermath.h"
#include "crash/processes.h"

// A loss of power, at any moment of some statements: what of the disk is certain then is enough.

namespace tessera::crash {
namespace {

namespace fs = std::filesystem;

struct Story {
  std::vector<Event> events;
  std::vector<Step> steps;
};

/// Some statements, from the making of the database on, and what they did to the disk. A sync may
/// fail, and those that come right after it.
Story told(const Folder& folder, std::uint64_t seed, std::int64_t failing_sync) {
  const fs::path root = folder / "told", database = root / "database", log = folder / "log";
  fs::remove_all(root);
  fs::create_directories(root);
  const Shared<History> history;
  const pid_t writer = start([&] {
    disk_set(root.c_str(), disk_well, disk_any, 0, 0);
    disk_record(log.c_str());
    (void)Database::open(database);
    if (failing_sync > 0)
      disk_set(root.c_str(), disk_io_error, disk_sync, failing_sync,
               static_cast<std::int64_t>(seed % 3) + 1);
    Database plain = Database::open(database), other = Database::open(database, {.compress = true});
    Workload workload('a', seed, {}, true);
    while (history->size() < 20) workload.run_one(plain, other, *history);
  });
  EXPECT_TRUE(wait_for(writer, std::chrono::seconds(60)));
  Story story{read_record(log), {}};
  for (std::size_t i = 0; i < history->size(); ++i) story.steps.push_back((*history)[i]);
  return story;
}

/// What must be there after so many events.
Expected expected_after(const Story& story, std::size_t events) {
  Expected expected;
  std::vector<Step> in_doubt;
  for (std::size_t i = 0; i < events; ++i) {
    if (story.events[i].what.call != disk_any) continue;
    const auto note = static_cast<std::size_t>(story.events[i].what.offset);
    const Step& step = story.steps[(note - 1) / 2];
    expected.perhaps = in_doubt;
    if (note % 2 == 0) {
      apply(step, expected.contents);
      continue;
    }
    expected.perhaps.push_back(step);
    if (is_in_doubt(step)) in_doubt.push_back(step);
  }
  return expected;
}

void lose_power_at_random(bool failing) {
  const Folder folder;
  std::mt19937_64 random(seed_or(4));
  Story story;
  for (int run = 0; run < runs_or(300); ++run) {
    if (run % 30 == 0)
      story = told(folder, random(), failing ? static_cast<std::int64_t>(random() % 60) + 1 : 0);
    ASSERT_GT(story.events.size(), 100);
    const std::uint64_t seed = random();
    const std::size_t until = random() % (story.events.size() + 1);
    SCOPED_TRACE(::testing::Message() << "run " << run << ", seed " << seed << ", after " << until
                                      << " of " << story.events.size() << " events");
    PoweredDisk disk(folder / "told", seed);
    for (std::size_t i = 0; i < until; ++i) disk.happen(story.events[i]);
    const fs::path left = folder / "left";
    fs::remove_all(left);
    disk.lose_power(left);
    Expected expected = expected_after(story, until);
    verify(left / "database", expected);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(PowerLoss, LeavesWhatWasAcknowledged) { lose_power_at_random(false); }
TEST(PowerLoss, AfterSyncsThatFailedToo) { lose_power_at_random(true); }

}  // namespace
}  // namespace tessera::crash
