// What must hold of the engine: it computes what the reference does and moves what it moves, on any
// number of sites and threads.

#include <gtest/gtest.h>

#include "ia/evaluate.h"
#include "support/expectations.h"
#include "support/random_plans.h"

namespace tessera {
namespace {

TEST(EngineLaws, PlansOverSitesComputeAndMoveWhatTheReferenceDoes) {
  int ran = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    const auto plan = random_plan(random, static_cast<int>(random.between(1, 6)));
    if (!plan) continue;
    const std::optional<Relation> expected = interpreted(*plan);
    if (!expected) {
      EXPECT_THROW(plan->run(Holes::allowed), Error) << "seed " << seed << "\n" << plan->explain();
      continue;
    }
    const int sites = static_cast<int>(random.between(1, 9));
    RunOptions options;
    options.holes = Holes::allowed;
    options.threads = static_cast<int>(random.between(1, 4));
    try {
      const ia::Plan apart = ia::translate(*plan, random_places(random, sites));
      const ia::Plan physical = random.chance(0.5) ? ia::fused(apart) : apart;
      ia::Traffic traffic(sites);
      (void)ia::interpret(physical, &traffic);
      RunReport report;
      EXPECT_TRUE(relations_equal(run(physical, options, &report), *expected))
          << "seed " << seed << "\n"
          << physical.explain();
      EXPECT_EQ(report.floats_moved, traffic.total) << "seed " << seed;
      EXPECT_EQ(report.sent, traffic.sent) << "seed " << seed;
      EXPECT_EQ(report.received, traffic.received) << "seed " << seed;
      // And as a user runs it, on one site, where aggregations fold the products of joins.
      EXPECT_TRUE(relations_equal(plan->run(options), *expected)) << "seed " << seed << "\n"
                                                                  << plan->explain();
      ++ran;
    } catch (const Error& error) {
      FAIL() << "seed " << seed << ": " << error.what() << "\n" << plan->explain();
    }
  }
  EXPECT_GT(ran, 1000);
  RecordProperty("ran", ran);
}

TEST(EngineLaws, TheOptimizerChangesNoResult) {
  int ran = 0;
  for (std::uint64_t seed = 0; ran < 2000; ++seed) {
    Random random(seed + 100000);
    const auto plan = random_plan(random, static_cast<int>(random.between(1, 6)));
    if (!plan) continue;
    const std::optional<Relation> expected = interpreted(*plan);
    if (!expected) continue;
    const int sites = static_cast<int>(random.between(2, 9));
    for (int on_sites : {1, sites})
      for (bool optimize : {false, true}) {
        RunOptions options;
        options.holes = Holes::allowed;
        options.threads = 2;
        options.sites = on_sites;
        options.optimize = optimize;
        RunReport report;
        try {
          // Zeros may be kept in another layout: what counts is which tuples there are.
          EXPECT_TRUE(tuples_equal(run(*plan, options, &report), *expected))
              << "seed " << seed << " on " << on_sites << " sites\n"
              << plan->explain();
        } catch (const Error& error) {
          FAIL() << "seed " << seed << ": " << error.what() << "\n" << plan->explain();
        }
        if (!optimize) continue;
        OptimizerOptions optimizer;
        optimizer.sites = on_sites;
        EXPECT_EQ(tessera::optimize(*plan, optimizer).cost.total.floats_moved, report.floats_moved)
            << "seed " << seed;
      }
    ++ran;
  }
}

/// Entries of sparse tiles cannot be counted beforehand: a run finds out that it needs more than
/// was said.
std::pair<Relation, RunReport> run_in_more_and_more_memory(const Plan& plan, RunOptions options) {
  for (int tries = 1;; ++tries, options.memory_limit *= 2) {
    try {
      RunReport report;
      Relation result = run(plan, options, &report);
      return {std::move(result), report};
    } catch (const OutOfMemory&) {
      if (tries == 16) throw;
    }
  }
}

TEST(EngineLaws, LittleMemoryChangesNoResult) {
  int ran = 0, tight = 0;
  for (std::uint64_t seed = 0; ran < 1500; ++seed) {
    Random random(seed + 200000);
    const auto plan = random_plan(random, static_cast<int>(random.between(1, 8)));
    if (!plan) continue;
    const std::optional<Relation> expected = interpreted(*plan);
    if (!expected) continue;
    RunOptions options;
    options.holes = Holes::allowed;
    options.threads = static_cast<int>(random.between(1, 4));
    options.sites = static_cast<int>(random.between(1, 4));
    options.optimize = random.between(0, 1) == 0;
    options.memory_limit = 1;
    try {
      options.memory_limit = forecast(*plan, options).needed * 17 / 16 + 64;
      const auto [result, report] = run_in_more_and_more_memory(*plan, options);
      EXPECT_TRUE(tuples_equal(result, *expected)) << "seed " << seed << "\n" << plan->explain();
      if (report.bytes_spilled > 0) ++tight;
    } catch (const Error& error) {
      FAIL() << "seed " << seed << ": " << error.what() << "\n" << plan->explain();
    }
    ++ran;
  }
  EXPECT_GT(tight, 100);
}

/// The plan runs as the reference runs it, and computes what the logical plan does.
void expect_as_reference(const ia::Plan& plan, int threads, std::uint64_t seed) {
  ia::Traffic traffic(plan.sites());
  (void)ia::interpret(plan, &traffic);
  RunOptions options;
  options.threads = threads;
  RunReport report;
  EXPECT_TRUE(relations_equal(run(plan, options, &report), plan.logical().interpret()))
      << "seed " << seed << "\n"
      << plan.explain();
  EXPECT_EQ(report.floats_moved, traffic.total) << "seed " << seed;
  EXPECT_EQ(report.sent, traffic.sent) << "seed " << seed;
  EXPECT_EQ(report.received, traffic.received) << "seed " << seed;
}

Plan integer_matrix(Random& random, std::int64_t rows, std::int64_t columns) {
  const Shape shape{rows * 2, columns * 2};
  return Plan::input(
      Relation::from_tensor(random_integers(DType::i64, shape, random.bits(), -9, 10), {2, 2}));
}

TEST(EngineLaws, SummandsAtSeveralSitesAreBroughtTogether) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    // A grid p x q x r over the result's key <i, k, j>: k is split, so that sums are partial.
    const int p = static_cast<int>(random.between(1, 3)),
              q = static_cast<int>(random.between(1, 3)),
              r = static_cast<int>(random.between(1, 2));
    const int sites = p * q * r + static_cast<int>(random.between(0, 2));
    const std::int64_t i = random.between(1, 4), k = random.between(1, 5), j = random.between(1, 4);
    using Kind = Axis::Kind;
    const Placement left(
        {{p, Kind::split, {{0, 1, 1}}}, {q, Kind::split, {{1, 1, 1}}}, {r, Kind::copy, {}}}, sites);
    const Placement right(
        {{p, Kind::copy, {}}, {q, Kind::split, {{0, 1, 1}}}, {r, Kind::split, {{1, 1, 1}}}}, sites);
    const ia::Plan a = ia::Plan::input(integer_matrix(random, i, k), left);
    const ia::Plan b = ia::Plan::input(integer_matrix(random, k, j), right);
    const ia::Plan parts =
        a.join(b, {1}, {0}, {Apply("matmul", {0, 1})}).aggregate({0, 2}, {"add"});
    const Key frontier{i, j};
    const ia::Plan together = parts.shuffle(random_placement(random, frontier, sites));
    const ia::Plan whole =
        together.pending().empty() ? together : together.aggregate({0, 1}, {"add"});
    expect_as_reference(whole, static_cast<int>(random.between(1, 4)), seed);
  }
}

}  // namespace
}  // namespace tessera
