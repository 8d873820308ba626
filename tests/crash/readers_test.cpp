#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <functional>
#include <iostream>
#include <set>
#include <stdexcept>
#include <thread>

#include "crash/aftermath.h"
#include "crash/processes.h"
#include "support/expectations.h"

// Processes that read while another writes. Whatever they see is the state after some statement:
// one that had not been overtaken when they looked, and that had begun when they had seen it.

namespace tessera::crash {
namespace {

namespace fs = std::filesystem;

struct Counts {
  std::atomic<std::int64_t> begun = 0, done = 0;
  std::atomic<bool> stop = false;
  std::atomic<std::int64_t> looks = 0, reads = 0, late_reads = 0, gone = 0;
};

constexpr const char* last_change = "last.text";

std::uint64_t seed_of(std::int64_t number) {
  const auto seed = static_cast<std::uint64_t>(number);
  return number % 5 != 0 ? small(seed) : seed;
}

/// The statements of the writer, all of them, in order: so everybody knows what is there after
/// each. A generation stores relations, one alone and two by a change that drops another, appends
/// to one of the last generation and says in a text which statement it is; it renames one, and
/// drops those of two generations ago.
Step statement(std::int64_t number) {
  const std::int64_t generation = number / 6;
  const auto named = [&](char letter, std::int64_t of) { return fmt::format("{}{}", letter, of); };
  const auto step = [&](Step::Kind kind, const std::string& name, const std::string& to = "") {
    Step made;
    made.kind = kind;
    std::snprintf(made.name, sizeof made.name, "%s", name.c_str());
    std::snprintf(made.to, sizeof made.to, "%s", to.c_str());
    made.seed = seed_of(number);
    return made;
  };
  const auto changed = [&] {
    Step made = step(Step::Kind::change, generation < 2 ? "" : named('B', generation - 2),
                     named('B', generation));
    std::snprintf(made.text, sizeof made.text, "%s", last_change);
    if (generation == 0) return made;
    std::snprintf(made.grown, sizeof made.grown, "%ss", named('B', generation - 1).c_str());
    made.grown_seed = series(seed_of(number - 6));
    return made;
  };
  const auto rest = generation % 3 == 0 ? Step::Kind::vacuum : Step::Kind::checkpoint;
  switch (number % 6) {
    case 0: return step(Step::Kind::store, named('A', generation));
    case 1: return changed();
    case 2: return step(Step::Kind::rename, named('A', generation), named('C', generation));
    case 3:
      return generation < 2 ? step(rest, "")
                            : step(Step::Kind::drop, named('B', generation - 2) + "s");
    case 4:
      return generation < 2 ? step(rest, "") : step(Step::Kind::drop, named('C', generation - 2));
    default: return step(rest, "");
  }
}

/// The relations that are there after so many statements; asked for ever later ones.
class Past {
 public:
  const Contents& after(std::int64_t statements) {
    if (states_.empty()) states_.emplace_back();
    while (first_ + static_cast<std::int64_t>(states_.size()) <= statements) {
      Contents next = states_.back();
      crash::apply(statement(first_ + static_cast<std::int64_t>(states_.size()) - 1), next);
      next.erase(last_change);
      states_.push_back(std::move(next));
    }
    return states_[static_cast<std::size_t>(statements - first_)];
  }
  void forget_before(std::int64_t statements) {
    (void)after(statements);
    for (; first_ < statements; ++first_) states_.pop_front();
  }

 private:
  std::deque<Contents> states_;
  std::int64_t first_ = 0;
};

void write_all(const fs::path& folder, Counts& progress) {
  Database plain = Database::open(folder), compressing = Database::open(folder, {.compress = true});
  for (std::int64_t number = 0; !progress.stop; ++number) {
    progress.begun = number + 1;
    perform(statement(number), number % 2 == 0 ? plain : compressing);
    progress.done = number + 1;
  }
}

struct Held {
  std::string name;
  std::set<std::uint64_t> seeds;
  Plan plan;
};

/// What a name may have stood for between two moments.
std::set<std::uint64_t> seeds_of(Past& past, const std::string& name, std::int64_t from,
                                 std::int64_t to) {
  std::set<std::uint64_t> seeds;
  for (std::int64_t k = from; k <= to; ++k) {
    const Contents& there = past.after(k);
    const auto found = there.find(name);
    if (found != there.end()) seeds.insert(found->second);
  }
  return seeds;
}

void read_all(const fs::path& folder, Counts& progress, bool read_only, std::uint64_t seed) {
  const Database database = Database::open(folder, {.create = false, .read_only = read_only});
  std::mt19937_64 random(seed);
  Past past;
  std::int64_t last = 0;
  std::deque<Held> held;
  const auto is_right = [](const Relation& found, const std::string& name,
                           const std::set<std::uint64_t>& seeds) {
    std::string why = "nothing was stored there";
    for (const std::uint64_t of : seeds) {
      const auto same = relations_equal(found, relation_of(of));
      if (same) return;
      why = same.message();
    }
    throw std::runtime_error(fmt::format("{} is not what was stored: {}", name, why));
  };
  while (!progress.stop) {
    // Time does not run backwards: what was seen once is not undone.
    std::int64_t from = std::max(last, progress.done.load());
    // Who has seen the text of a change sees all of it.
    const std::optional<std::string> text = database.text(last_change);
    if (text) from = std::max(from, static_cast<std::int64_t>(std::stoll(*text)) + 1);
    const Glance glance = glance_at(database.list(), {});
    const std::int64_t to = progress.begun.load();
    past.forget_before(from);
    std::int64_t seen = from;
    while (seen <= to && !fits(glance, past.after(seen))) ++seen;
    require(seen <= to,
            fmt::format("{} was never all there was, after {} to {} statements", glance, from, to));
    last = seen;
    ++progress.looks;
    if (!glance.empty()) {
      const std::string name =
          std::next(glance.begin(), static_cast<std::ptrdiff_t>(random() % glance.size()))->first;
      try {
        if (random() % 2 == 0) {
          const Relation found = database.read(name);
          is_right(found, name, seeds_of(past, name, seen, progress.begun));
        } else {
          const Plan plan = database.plan(name);
          held.push_back({name, seeds_of(past, name, seen, progress.begun), plan});
        }
        ++progress.reads;
      } catch (const TypeError& error) {
        const std::int64_t now = progress.begun;
        bool could_go = false;
        for (std::int64_t k = seen; k <= now; ++k) could_go |= !past.after(k).contains(name);
        require(could_go, error.what());
        ++progress.gone;
      }
    }
    // Plans are held until what they read was dropped and vacuumed long ago.
    if (held.size() > 12 || (!held.empty() && random() % 4 == 0)) {
      is_right(held.front().plan.run(), held.front().name, held.front().seeds);
      progress.late_reads += past.after(last).contains(held.front().name) ? 0 : 1;
      held.pop_front();
    }
  }
}

TEST(Readers, SeeOneStateBesideAWriter) {
  const Folder folder;
  const char* said = std::getenv("SOAK_SECONDS");
  const int seconds = said != nullptr && *said != '\0' ? std::atoi(said) : 4;
  const fs::path database = folder / "database";
  (void)Database::open(database);
  const Shared<Counts> progress;
  std::vector<pid_t> processes{start([&] { write_all(database, *progress); }),
                               start([&] { read_all(database, *progress, false, 1); }),
                               start([&] { read_all(database, *progress, true, 2); })};
  // One that ends has failed: the others need not go on.
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  while (std::chrono::steady_clock::now() < until && !any_ended(processes))
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  progress->stop = true;
  for (const pid_t process : processes) EXPECT_TRUE(wait_for(process, std::chrono::seconds(60)));
  std::cout << fmt::format(
      "{} statements, {} looks, {} reads, {} of what was gone meanwhile, {} of names just gone\n",
      progress->done.load(), progress->looks.load(), progress->reads.load(),
      progress->late_reads.load(), progress->gone.load());
  EXPECT_GT(progress->done, 10);
  EXPECT_GT(progress->reads, 10);
  EXPECT_GT(progress->late_reads, 0);
  Past past;
  Expected expected{past.after(progress->done), {}};
  for (std::int64_t k = progress->done - 1; k >= 0 && !expected.contents.contains(last_change); --k)
    if (statement(k).kind == Step::Kind::change) expected.contents[last_change] = statement(k).seed;
  verify(database, expected);
}

}  // namespace
}  // namespace tessera::crash
