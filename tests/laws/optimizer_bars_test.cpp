// The optimizer is held to the algorithms that have names: from the same initial placement none of
// them may be cheaper than the plan it finds. And it finds by itself what the paper's authors
// chose.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rules/multiplication.h"
#include "support/exhaustive_search.h"
#include "support/paper_plans.h"
#include "support/planning_problems.h"

namespace tessera {
namespace {

using namespace optimizer;

/// Adds every multiplication that there is a rule for, on every grid and with every replication.
void add_multiplications(PlanningProblem& problem) {
  const int sites = problem.options.sites;
  const ia::Plan start = ia::translate(problem.results.front(), [&](const Plan& input) {
    return problem.options.placed(input).value();
  });
  const auto add = [&](const std::string& name, const Rewrite& rewrite) {
    if (rewrite) problem.rivals.push_back({name, {*rewrite.plan}});
  };
  add("as table 1 has it", start);
  for (Folding folding : {Folding::local_first, Folding::as_printed}) {
    add("broadcast left", broadcast_multiply(start, Side::left, folding));
    add("broadcast right", broadcast_multiply(start, Side::right, folding));
    add("cross product", cross_product_multiply(start, folding));
  }
  add("replicated", replicated_multiply(start));
  for (int i = 1; i <= sites; ++i)
    for (int k = 1; i * k <= sites; ++k)
      for (int j = 1; i * k * j <= sites; ++j)
        add(fmt::format("grid {}x{}x{}", i, k, j), grid_multiply(start, {i, k, j}));
  for (int c = 1; c <= sites; ++c) add(fmt::format("2.5-D, {}", c), two_and_a_half_d(start, c));
}

/// Plans each problem and compares with its rivals. How long the longest took is told, not judged.
class OptimizerBars : public ::testing::Test {
 protected:
  void expect_none_cheaper(const PlanningProblem& problem) {
    const OptimizedPlan found = optimize(problem.results, problem.options);
    const double cost = found.cost.total.seconds;
    for (const auto& [name, plans] : problem.rivals)
      EXPECT_LE(cost, cost_of(plans, problem.options.machine).total.seconds * (1 + 1e-9))
          << problem.name << ": " << name << " is cheaper";
    if (found.planning_seconds <= longest_) return;
    longest_ = found.planning_seconds;
    slowest_ = problem.name;
  }
  void TearDown() override {
    if (longest_ == 0) return;
    const std::string told = fmt::format("{:.1f} ms: {}", longest_ * 1e3, slowest_);
    RecordProperty("longest_planning", told);
    fmt::print("longest planning {}\n", told);
  }
  double longest_ = 0;
  std::string slowest_;
};

TEST_F(OptimizerBars, NoNamedMultiplicationIsCheaper) {
  for (auto problems : {paper_products(), random_products(40)})
    for (PlanningProblem& problem : problems) {
      add_multiplications(problem);
      expect_none_cheaper(problem);
    }
}

TEST_F(OptimizerBars, NoPlanOfThePaperIsCheaper) {
  for (const auto& problems : {paper_searches(), paper_training_steps()})
    for (const PlanningProblem& problem : problems) expect_none_cheaper(problem);
}

TEST_F(OptimizerBars, NothingCheaperIsFoundByLookingAtEveryGrid) {
  int small = 0;
  for (const PlanningProblem& problem : random_products(400)) {
    if (problem.options.sites > 7) continue;
    ++small;
    EXPECT_LE(optimize(problem.results, problem.options).cost.total.seconds,
              exhaustive_search(problem.results.front(), problem.options).cost * (1 + 1e-9))
        << problem.name;
  }
  EXPECT_GE(small, 10);
}

/// The components that the places of a join are split by, over all nodes that compute it.
std::set<int> split_by(const OptimizedPlan& plan, const Plan& join) {
  std::set<int> components;
  for (const ia::Plan& node : ia::in_order(plan.plans)) {
    const auto* both = std::get_if<ia::JoinAggregate>(&ia::operator_of(node));
    const ia::Plan& joined = both != nullptr ? both->aggregate.input : node;
    if (std::holds_alternative<ia::Join>(ia::operator_of(joined)) && joined.logical().is_same(join))
      for (const Axis& axis : joined.placement().axes())
        for (const Digit& digit : axis.digits) components.insert(digit.component);
  }
  return components;
}

const std::set<int> rows = {0}, features = {1};

TEST(OptimizerChoices, NearestNeighbourByRowsOrByFeatures) {
  for (const auto& [n, d, expected] :
       {std::tuple{1'500'000, 6'000, rows}, std::tuple{6'000, 100'000, features}})
    for (int component : {0, 1}) {
      const auto types = NeighbourSearch::of(n, d, 8, 8);
      const auto search = tasks::nearest_neighbour(types.x, types.query, types.a, types.rows);
      OptimizerOptions options;
      options.sites = 8;
      options.placed =
          placed_on({{"X", {component}}, {"query", {0}}, {"A", {0}}, {"rows", {0}}}, 8);
      const OptimizedPlan plan = optimize(search.nearest, options);
      const Plan product = inputs_of(operator_of(search.projected)).front();
      EXPECT_EQ(split_by(plan, product), expected)
          << n << " x " << d << ", X by " << component << "\n"
          << plan.explain();
    }
}

TEST(OptimizerChoices, DataParallelOrModelParallel) {
  const std::set<int> batch = {0}, hidden = {1};
  const auto expect_split = [](const tasks::NetworkShape& shape, const std::set<int>& expected) {
    const Network network(shape);
    for (bool free : {false, true}) {
      OptimizerOptions options;
      options.sites = 5;
      options.placed = [&](const Plan& input) {
        return free ? std::nullopt
                    : std::optional(Placement::part({0}, input.frontier(), options.sites));
      };
      const OptimizedPlan plan =
          optimize(std::vector<Plan>{network.step.w1, network.step.w2}, options);
      EXPECT_EQ(split_by(plan, network.step.z1), expected) << plan.explain();
    }
  };
  for (std::int64_t units : {100'000, 150'000, 200'000})
    expect_split({10'000, 1'600, units, 10, 5, 5, 5}, batch);
  for (std::int64_t units : {1'000, 3'000, 5'000, 7'000})
    expect_split({1'000, 597'540, units, 14'585, 5, 5, 5}, hidden);
}

}  // namespace
}  // namespace tessera
