// What must hold between what is predicted of operators and what a run measures of them.

#include <gtest/gtest.h>

#include "optimizer/traffic.h"
#include "support/expectations.h"
#include "support/random_plans.h"
#include "tessera/optimizer.h"
#include "tessera/run.h"

namespace tessera {
namespace {

bool is_dense(const ia::Plan& plan) {
  return std::none_of(plan.type().columns.begin(), plan.type().columns.end(),
                      [](const Column& column) { return column.type.is_sparse(); });
}

/// Whether all tuples of an operator and of its inputs are known to be there, and alike.
bool is_exact(const ia::Plan& plan) {
  const std::vector<ia::Plan> inputs = ia::inputs_of(ia::operator_of(plan));
  return optimizer::is_even(plan.logical()) && is_dense(plan) &&
         std::all_of(inputs.begin(), inputs.end(), [](const ia::Plan& input) {
           return optimizer::is_even(input.logical()) && is_dense(input);
         });
}

/// Runs a plan and compares, operator by operator; how many there were to compare.
int compared(const Plan& plan, RunOptions options) {
  std::optional<RunRecord> record;
  options.holes = Holes::allowed;
  options.ended = [&](const RunRecord& run) { record = run; };
  (void)run(plan, options);
  const std::vector<ia::Plan> order = ia::in_order(record->plans);
  const PlanCost cost = cost_of(record->plans);
  int count = 0;
  double flops = 0, moved = 0;
  for (const OperatorReport& own : record->report.operators) {
    flops += own.flops;
    moved += own.floats_moved;
    bool exact = is_exact(order[own.node]);
    if (const auto* both = std::get_if<ia::JoinAggregate>(&ia::operator_of(order[own.node])))
      exact = exact && is_exact(both->aggregate.input);
    const OperatorCost& predicted = cost.operators[own.node];
    if (cost.exact) EXPECT_EQ(predicted.floats_moved, own.floats_moved) << own.description;
    if (!exact) continue;
    EXPECT_EQ(predicted.flops, own.flops) << own.description << "\n" << order.back().explain();
    EXPECT_EQ(predicted.bytes, own.bytes) << own.description << "\n" << order.back().explain();
    EXPECT_EQ(own.expected_bytes, own.result_bytes) << own.description;
    ++count;
  }
  EXPECT_EQ(flops, record->report.flops);
  EXPECT_EQ(moved, record->report.floats_moved);
  return count;
}

TEST(AnalysisLaws, WhatIsPredictedExactlyIsMeasured) {
  int count = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    Random random(seed);
    const auto plan = random_plan(random, static_cast<int>(random.between(1, 6)));
    if (!plan) continue;
    RunOptions options;
    options.threads = 2;
    options.optimize = random.between(0, 1) == 1;
    const int sites = static_cast<int>(random.between(2, 5));
    try {
      for (int on_sites : {1, sites}) {
        options.sites = on_sites;
        count += compared(*plan, options);
        if (::testing::Test::HasFailure()) FAIL() << "seed " << seed << ", sites " << on_sites;
      }
    } catch (const InternalError&) {
      throw;
    } catch (const Error&) {
      continue;  // random plans are allowed to be wrong
    }
  }
  EXPECT_GT(count, 500);
}

}  // namespace
}  // namespace tessera
