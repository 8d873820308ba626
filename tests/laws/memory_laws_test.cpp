// What must hold of runs under a memory limit: results are the same, a run does with what it says
// it needs and not with less, and it holds no more than it may or than was forecast.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>

#include "exec/value_sizes.h"
#include "support/expectations.h"
#include "support/random_plans.h"

namespace tessera {
namespace {

struct Case {
  Plan plan;
  Relation expected;
  bool guessed;  // sizes of sparse tiles, which nobody knows before they are there
};

/// A random plan over sources that runs, without a limit.
std::optional<Case> random_case(Random& random) {
  const auto plan = random_plan(random, static_cast<int>(random.between(1, 6)), Inputs::read);
  if (!plan) return std::nullopt;
  try {
    const exec::TaskGraph graph =
        exec::expand(ia::fused(ia::translate({*plan}, ia::round_robin(1))));
    const std::vector<char> guessed = exec::predicted_sizes(graph).guessed;
    return Case{*plan, plan->run(Holes::allowed),
                std::any_of(guessed.begin(), guessed.end(), [](char one) { return one != 0; })};
  } catch (const InternalError&) {
    throw;
  } catch (const Error&) {
    return std::nullopt;  // random plans are allowed to be wrong
  }
}

RunOptions within(std::int64_t bytes, int threads) {
  RunOptions options;
  options.holes = Holes::allowed;
  options.memory_limit = bytes;
  options.threads = threads;
  return options;
}

/// A run whose results are handed over, put together again.
Relation handed_over(const Case& of, const RunOptions& options, RunReport& report) {
  std::mutex mutex;
  std::vector<Tuple> tuples;
  (void)run_into(
      {of.plan},
      [&](std::size_t, const Key& key, const std::vector<Tile>& tiles) {
        const std::lock_guard lock(mutex);
        tuples.push_back({key, tiles});
      },
      options, &report);
  std::sort(tuples.begin(), tuples.end(),
            [](const Tuple& a, const Tuple& b) { return a.key < b.key; });
  return Relation::assemble(of.expected.type(), std::move(tuples), of.expected.absent_types());
}

TEST(MemoryLaws, ARunDoesWithWhatItNeedsAndNotWithLess) {
  int ran = 0, refused = 0;
  for (std::uint64_t seed = 0; ran < 1500; ++seed) {
    Random random(seed);
    const auto made = random_case(random);
    if (!made) continue;
    const int threads = static_cast<int>(random.between(1, 4));
    const bool keeps = random.chance(0.5);
    SCOPED_TRACE(
        fmt::format("seed {}, {}\n{}", seed, keeps ? "kept" : "handed over", made->plan.explain()));
    const std::int64_t needed =
        forecast(made->plan, within(1 << 30, threads), keeps ? Results::kept : Results::handed_over)
            .needed;
    if (needed == 0) continue;
    // Exactly what it needs, a little more, and more.
    for (const std::int64_t limit : {needed, needed + 1, needed + random.between(1, 3 * needed)}) {
      const RunOptions options = within(limit, threads);
      const MemoryForecast foreseen =
          forecast(made->plan, options, keeps ? Results::kept : Results::handed_over);
      EXPECT_EQ(foreseen.needed, needed);
      RunReport report;
      try {
        const Relation result =
            keeps ? run(made->plan, options, &report) : handed_over(*made, options, report);
        EXPECT_TRUE(relations_equal(result, made->expected));
      } catch (const OutOfMemory& error) {
        EXPECT_TRUE(made->guessed) << error.what();
        continue;
      }
      if (made->guessed) continue;
      EXPECT_LE(report.peak_bytes, limit);
      EXPECT_LE(report.peak_bytes, foreseen.peak);
    }
    if (needed > 1) {
      RunReport report;
      const RunOptions less = within(needed - 1, threads);
      if (keeps)
        EXPECT_THROW(run(made->plan, less, &report), OutOfMemory);
      else
        EXPECT_THROW(handed_over(*made, less, report), OutOfMemory);
      ++refused;
    }
    if (HasFailure()) return;
    ++ran;
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace tessera
