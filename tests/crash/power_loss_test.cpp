#include "crash/power_loss.h"

#include <gtest/gtest.h>

#include "crash/aftermath.h"
#include "crash/processes.h"
#include "store/catalog.h"

// A loss of power, at any moment of some statements: what of the disk is certain then is enough.

namespace tessera::crash {
namespace {

namespace fs = std::filesystem;

struct Story {
  std::vector<Event> events;
  std::vector<Step> steps;
};

/// Some statements, from the making of the database on, and what they did to the disk. Somebody who
/// has the catalogue open keeps SQLite from emptying its log after every statement.
Story told(const Folder& folder, std::uint64_t seed, bool watched) {
  const fs::path root = folder / "told", database = root / "database", log = folder / "log";
  fs::remove_all(root);
  fs::create_directories(root);
  const Shared<History> history;
  const pid_t writer = start([&] {
    disk_set(root.c_str(), disk_well, disk_any, 0, 0);
    disk_record(log.c_str());
    Database plain = Database::open(database), other = Database::open(database, {.compress = true});
    std::optional<store::Catalog> open;
    if (watched) open.emplace(database, store::Catalog::Mode::write);
    Workload workload('a', seed, {}, true);
    while (history->size() < 20) workload.run_one(plain, other, *history);
  });
  EXPECT_TRUE(wait_for(writer, std::chrono::seconds(60)));
  Story story{read_record(log), {}};
  for (std::size_t i = 0; i < history->size(); ++i) story.steps.push_back((*history)[i]);
  return story;
}

TEST(PowerLoss, LeavesWhatWasAcknowledged) {
  const Folder folder;
  std::mt19937_64 random(seed_or(4));
  Story story;
  for (int run = 0; run < runs_or(300); ++run) {
    if (run % 50 == 0) story = told(folder, random(), run % 100 == 0);
    ASSERT_GT(story.events.size(), 100);
    const std::uint64_t seed = random();
    const std::size_t until = random() % (story.events.size() + 1);
    SCOPED_TRACE(::testing::Message() << "run " << run << ", seed " << seed << ", after " << until
                                      << " of " << story.events.size() << " events");
    PoweredDisk disk(folder / "told");
    Expected expected;
    for (std::size_t i = 0; i < until; ++i) {
      const Event& event = story.events[i];
      disk.happen(event);
      if (event.what.call != disk_any) continue;
      const Step& step = story.steps[static_cast<std::size_t>(event.what.offset - 1) / 2];
      if (event.what.offset % 2 == 1) {
        expected.perhaps = {step};
      } else {
        expected.perhaps.clear();
        apply(step, expected.contents);
      }
    }
    const fs::path left = folder / "left";
    fs::remove_all(left);
    std::mt19937_64 fate(seed);
    disk.lose_power(fate, left);
    verify(left / "database", expected);
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace tessera::crash
