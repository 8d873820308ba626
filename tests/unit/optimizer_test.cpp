#include "tessera/optimizer.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "optimizer/algorithms.h"
#include "optimizer/place.h"
#include "support/expectations.h"
#include "tasks/multiplication.h"

namespace tessera {
namespace {

/// A product of square matrices of so many tiles a side, known by its type.
Plan square_product(std::int64_t n, std::int64_t tiles) {
  return tasks::product(Plan::input(tasks::matrix(n, n, tiles, tiles), "A"),
                        Plan::input(tasks::matrix(n, n, tiles, tiles), "B"));
}

OptimizerOptions on(int sites) {
  OptimizerOptions options;
  options.sites = sites;
  return options;
}

TEST(Cost, OfABroadcastAndAShuffle) {
  const Plan a = Plan::input(tasks::matrix(40, 40, 4, 4), "A");
  const ia::Plan input = ia::Plan::input(a, Placement::part({0}, a.frontier(), 4));
  const PlanCost everywhere = cost_of(input.broadcast());
  EXPECT_EQ(everywhere.total.published, 1600 * 4);     // f * s
  EXPECT_EQ(everywhere.total.floats_moved, 1600 * 3);  // each site has its own part already
  EXPECT_EQ(everywhere.total.most_loaded, 400 * 3);
  const PlanCost turned = cost_of(input.shuffle({1}));
  EXPECT_EQ(turned.total.published, 1600);
  EXPECT_EQ(turned.total.floats_moved, 1200);
  const PlanCost idle = cost_of(input.shuffle({0}));
  EXPECT_EQ(idle.total.published, 0);
  EXPECT_EQ(idle.total.floats_moved, 0);
  EXPECT_TRUE(idle.exact);
}

TEST(Optimizer, PlansOfThousandsOfOperatorsArePlacedToo) {
  const auto matrix = [](const char* name) {
    return Plan::input(RelationType{{{"", {DType::f64, {100, 100}}}}, {4, 4}}, name);
  };
  const Plan by = matrix("by"), more = matrix("more");
  Plan x = matrix("x");
  for (int step = 0; step < 260; ++step) {
    x = x.join(by, {1}, {0}, "matmul").aggregate({0, 2}, "add");
    x = x.join(more, {0, 1}, {0, 1}, "add").transform("relu");
  }
  OptimizerOptions options;
  options.sites = 4;
  const OptimizedPlan best = optimize(x, options);
  options.disabled = {"simplify", "place"};
  const OptimizedPlan written = optimize(x, options);
  EXPECT_LT(10 * best.cost.total.floats_moved, written.cost.total.floats_moved);
  EXPECT_LE(best.cost.total.flops, written.cost.total.flops);
}

TEST(Optimizer, PartsAreCutWhereFewResultsAreReadAcross) {
  Plan x = Plan::input(RelationType{{{"", {DType::f64, {10, 10}}}}, {4, 4}}, "x");
  const auto sum = [](const Plan& a, const Plan& b) { return a.join(b, {0, 1}, {0, 1}, "add"); };
  for (int block = 0; block < 4; ++block)  // five operators, of which only the last is read after
    x = sum(sum(x.transform("neg"), x.transform("relu")), x.transform("abs"));
  OptimizerOptions options;
  options.sites = 4;
  const std::vector<ia::Plan> written =
      ia::translate(std::vector<Plan>{x}, ia::round_robin(options.sites));
  EXPECT_EQ(optimizer::place(written, options, 8).parts, (std::vector<int>{6, 5, 5, 5}));
  const optimizer::PlacedPlans whole = optimizer::place(written, options, 21);
  EXPECT_EQ(whole.parts, std::vector<int>{21});
  EXPECT_FALSE(whole.algorithm.empty());
}

TEST(Optimizer, ItTellsWhyRulesDidNotApply) {
  const Plan a = square_product(40, 4);
  const OptimizedPlan plan = optimize(a.filter("k0 = 1").transform("neg"));
  const std::string text = plan.explain(true);
  EXPECT_NE(text.find("filter_before_aggregation  applied x1"), std::string::npos) << text;
  EXPECT_NE(text.find("filter_before_map          not applied x"), std::string::npos) << text;
  EXPECT_NE(text.find(": its input is not a map\n"), std::string::npos) << text;
  EXPECT_NE(text.find("passes: translate "), std::string::npos) << text;
  EXPECT_EQ(plan.explain().find("not applied"), std::string::npos);
}

TEST(Optimizer, APassThatIsDisabledIsNotTaken) {
  const auto joins_of = [](const std::set<std::string>& disabled, int sites) {
    OptimizerOptions options;
    options.sites = sites;
    options.disabled = disabled;
    const OptimizedPlan plan = optimize(square_product(400, 4), options);
    std::vector<std::string> names;
    for (const PassUse& use : plan.passes) names.push_back(use.pass);
    int joins = 0, fused = 0;
    for (const ia::Plan& node : ia::in_order(plan.plan())) {
      joins += std::holds_alternative<ia::Join>(ia::operator_of(node)) ? 1 : 0;
      const auto* both = std::get_if<ia::JoinAggregate>(&ia::operator_of(node));
      const bool adds =
          both != nullptr && both->adds_in_place(both->aggregate.input.type().columns.front().type);
      fused += adds ? 1 : 0;
    }
    return fmt::format("{}: {} joins, {} fused", fmt::join(names, " "), joins, fused);
  };
  EXPECT_EQ(joins_of({}, 4), "translate simplify place gather fuse: 0 joins, 1 fused");
  EXPECT_EQ(joins_of({"fuse"}, 4), "translate simplify place gather: 1 joins, 0 fused");
  // As it was written the products are moved before they are summed.
  EXPECT_EQ(joins_of({"place"}, 4), "translate simplify gather fuse: 1 joins, 0 fused");
  EXPECT_EQ(joins_of({"place"}, 1), "translate simplify gather fuse: 0 joins, 1 fused");
}

TEST(Optimizer, TellsWhichRulesFired) {
  const Plan a = Plan::input(tasks::matrix(400, 400, 4, 4), "A");
  const Plan plan = a.filter("k0 < 3").filter("k1 < 2").filter("k0 != k1");
  OptimizerOptions options = on(2);
  const auto fired = [&] {
    std::map<std::string, int> times;
    for (const RuleUse& use : optimize(plan, options).rules)
      if (use.fired > 0) times[use.rule] = use.fired;
    return times;
  };
  EXPECT_EQ(fired(), (std::map<std::string, int>{{"merge_filters", 2}}));
  options.disabled = {"merge_filters"};
  EXPECT_TRUE(fired().empty());
}

TEST(Cost, OfKernelsIsThatOfTheBusiestSite) {
  const Plan c = square_product(400, 4);
  const auto flops = [&](int sites) {
    return cost_of(ia::fused(ia::translate(c, ia::round_robin(sites)))).total.flops;
  };
  EXPECT_GE(flops(1), 2.0 * 400 * 400 * 400);
  // On one site products are added to the sums as they are made; on four they are moved first, and
  // then three are added to the first of each group of four.
  EXPECT_EQ(flops(4), flops(1) + 3.0 * 400 * 400);
  const auto seconds = [](const ia::Plan& plan) {
    double longest = 0;
    for (const OperatorCost& own : cost_of(plan).operators)
      if (own.flops > 0) longest = std::max(longest, own.seconds);
    return longest;
  };
  EXPECT_NEAR(seconds(ia::translate(c, ia::round_robin(1))),
              4 * seconds(ia::translate(c, ia::round_robin(4))), 1e-12);
  // To put the two together changes nothing of the seconds that plans are compared by.
  for (int sites : {1, 4}) {
    const ia::Plan plan = ia::translate(c, ia::round_robin(sites));
    EXPECT_EQ(cost_of(ia::fused(plan)).total.seconds, cost_of(plan).total.seconds);
  }
}

TEST(Optimizer, OneSiteMovesNothing) {
  const OptimizedPlan plan = optimize(square_product(400, 4), on(1));
  EXPECT_EQ(plan.cost.total.floats_moved, 0);
  EXPECT_TRUE(plan.algorithm.empty());
  for (const ia::Plan& node : ia::in_order(plan.plans)) {
    EXPECT_FALSE(std::holds_alternative<ia::Shuffle>(ia::operator_of(node)));
    EXPECT_FALSE(std::holds_alternative<ia::Broadcast>(ia::operator_of(node)));
  }
}

TEST(Optimizer, ASmallSideIsBroadcast) {
  const Plan a = Plan::input(tasks::matrix(8'000, 8'000, 8, 8), "A");
  const Plan b = Plan::input(tasks::matrix(8'000, 8, 8, 1), "B");
  OptimizerOptions options = on(8);
  options.placed = [](const Plan& input) { return Placement::part({0}, input.frontier(), 8); };
  EXPECT_EQ(optimize(tasks::product(a, b), options).algorithm, "broadcast right (BMM)");
}

TEST(Optimizer, FreeInputsLieWhereTheyAreWanted) {
  OptimizerOptions options = on(4);
  options.placed = [](const Plan&) { return std::optional<Placement>(); };
  const Plan a = Plan::input(tasks::matrix(400, 400, 4, 4), "A");
  const OptimizedPlan sum = optimize(a.join(a.transform("neg"), {0, 1}, {0, 1}, "add"), options);
  EXPECT_EQ(sum.cost.total.floats_moved, 0);
}

TEST(Optimizer, SeveralResultsShareWhatTheyHaveInCommon) {
  const Plan c = square_product(4'000, 4);
  const std::vector<Plan> results{c.transform("neg"), c.transform("abs")};
  const OptimizedPlan both = optimize(results, on(4)), one = optimize(results[0], on(4));
  ASSERT_EQ(both.plans.size(), 2u);
  EXPECT_LT(both.cost.total.flops, 1.5 * one.cost.total.flops);
}

TEST(Optimizer, ObjectivesDiffer) {
  // By the published model one site that has everything is cheapest; it counts no work.
  OptimizerOptions options = on(4);
  options.placed = [](const Plan&) { return Placement({}, 4); };
  EXPECT_GT(optimize(square_product(8'000, 8), options).cost.total.floats_moved, 0);
  options.objective = Objective::published;
  EXPECT_EQ(optimize(square_product(8'000, 8), options).cost.total.published, 0);
}

TEST(Optimizer, WhatIsDisabledIsNotUsed) {
  OptimizerOptions options = on(4);
  options.alternatives = true;
  const OptimizedPlan free = optimize(square_product(4'000, 4), options);
  for (const optimizer::Algorithm& algorithm : optimizer::join_algorithms())
    if (algorithm.name == free.algorithm) options.disabled = {algorithm.rule};
  ASSERT_EQ(options.disabled.size(), 1u) << free.algorithm;
  const OptimizedPlan other = optimize(square_product(4'000, 4), options);
  EXPECT_NE(other.algorithm, free.algorithm);
  EXPECT_GE(other.cost.total.seconds, free.cost.total.seconds);
  const auto told = std::find_if(other.alternatives.begin(), other.alternatives.end(),
                                 [](const Alternative& a) { return a.why == "it is disabled"; });
  EXPECT_NE(told, other.alternatives.end());
}

TEST(Optimizer, Mistakes) {
  const Plan plan = square_product(40, 2);
  EXPECT_ERROR(PlanError, optimize(plan, on(0)), "invalid number of sites 0");
  EXPECT_ERROR(PlanError, optimize(std::vector<Plan>{}, on(2)), "there are no plans to optimize");
  OptimizerOptions options = on(2);
  options.disabled = {"broadcast_lefd"};
  EXPECT_ERROR(PlanError, optimize(plan, options),
               "rule or pass \"broadcast_lefd\" not found; did you mean \"broadcast_left\"");
  options.disabled = {"nothing_like_it"};
  EXPECT_ERROR(PlanError, optimize(plan, options), "available: merge_filters, merge_maps");
  options.disabled = {"Gather"};
  EXPECT_ERROR(PlanError, optimize(plan, options), "pass \"gather\" cannot be disabled");
  options.disabled = {"BROADCAST_left"};
  EXPECT_NE(optimize(plan, options).algorithm, "broadcast left (BMM)");
  options.disabled = {"one_site",     "broadcast_left",     "broadcast_right",
                      "shuffle_both", "grid_multiply",      "two_and_a_half_d",
                      "copies",       "replicated_multiply"};
  EXPECT_ERROR(PlanError, optimize(plan, options), "no plan is possible");
}

TEST(Optimizer, ExplainOfInputsKnownByTheirType) {
  OptimizerOptions options = on(4);
  options.alternatives = true;
  const std::string text = optimize(square_product(40'000, 4), options).explain();
  for (const char* part : {"Input A", "Input B", "operator", "placement", "floats moved", "flops",
                           "4 sites:", "chosen: ", "broadcast left (BMM)",
                           "shuffle both on the join keys (CMM)", "shuffle copies of both (RMM)"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is missing in\n" << text;
}

TEST(Optimizer, JsonHasTheCostsThePlanAndTheAlternatives) {
  OptimizerOptions options = on(4);
  options.alternatives = true;
  const OptimizedPlan plan = optimize(square_product(40'000, 4), options);
  const nlohmann::json json = nlohmann::json::parse(plan.json());
  EXPECT_EQ(json["sites"], 4);
  EXPECT_EQ(json["objective"], "exact");
  EXPECT_EQ(json["transfer_floats"].get<double>(), plan.cost.total.floats_moved);
  EXPECT_EQ(json["flops"].get<double>(), plan.cost.total.flops);
  EXPECT_EQ(json["algorithm"], plan.algorithm);
  ASSERT_EQ(json["plan"].size(), ia::in_order(plan.plans).size());
  for (std::size_t i = 0; i < json["plan"].size(); ++i) {
    const auto& node = json["plan"][i];
    EXPECT_EQ(node["id"], i);
    for (const char* field : {"operator", "inputs", "type", "placement", "floats_moved", "flops"})
      EXPECT_TRUE(node.contains(field)) << field;
    for (const auto& input : node["inputs"]) EXPECT_LT(input.get<std::size_t>(), i);
  }
  EXPECT_EQ(json["results"].size(), 1u);
  ASSERT_FALSE(json["alternatives"].empty());
  for (const auto& other : json["alternatives"]) {
    EXPECT_TRUE(other["name"].is_string());
    EXPECT_TRUE(other["transfer_floats"].is_number() || other["transfer_floats"].is_null());
    EXPECT_TRUE(other["why"].is_string());
  }
  EXPECT_TRUE(json["rules"].is_array());
}

TEST(Optimizer, AlternativesAreNoCheaper) {
  OptimizerOptions options = on(6);
  options.alternatives = true;
  const OptimizedPlan plan = optimize(square_product(6'000, 6), options);
  for (const Alternative& other : plan.alternatives)
    if (other.cost)
      EXPECT_GE(other.cost->total.seconds, plan.cost.total.seconds * (1 - 1e-9)) << other.name;
}

/// What plans cost if their costliest join is computed by each algorithm that is not the best.
std::map<std::string, std::optional<double>> seconds_of_alternatives(
    const Plan& plan, const std::set<std::string>& disabled = {}) {
  OptimizerOptions options = on(4);
  options.alternatives = true;
  options.disabled = disabled;
  std::map<std::string, std::optional<double>> seconds;
  for (const Alternative& other : optimize(plan, options).alternatives)
    seconds[other.name] =
        other.cost ? std::optional(other.cost->total.seconds) : std::optional<double>();
  return seconds;
}

TEST(Optimizer, AnAlternativeIsWhatIsFoundWhereOnlyItsAlgorithmIsAllowed) {
  const Plan plan = square_product(8'000, 8);
  for (const std::set<std::string>& disabled : {std::set<std::string>{}, {"fuse"}}) {
    const auto seconds = seconds_of_alternatives(plan, disabled);
    EXPECT_EQ(seconds.size(), optimizer::join_algorithms().size() - 1);
    for (const auto& [name, cost] : seconds) {
      OptimizerOptions only = on(4);
      only.disabled = disabled;
      for (const optimizer::Algorithm& algorithm : optimizer::join_algorithms())
        if (algorithm.name != name) only.disabled.insert(algorithm.rule);
      const OptimizedPlan found = optimize(plan, only);
      EXPECT_EQ(found.algorithm, name);
      EXPECT_EQ(found.cost.total.seconds, cost) << name;
    }
  }
}

TEST(Optimizer, AlternativesAreOfTheCostliestJoinAndLeaveTheOthersFree) {
  // The second product has one tile in a row: its right side cannot be split by columns.
  const Plan right = Plan::input(tasks::matrix(8'000, 8, 8, 1), "C");
  const Plan plan = tasks::product(square_product(8'000, 8), right);
  EXPECT_EQ(optimize(plan, on(4)).algorithm, "grid (SUMMA)");
  const auto seconds = seconds_of_alternatives(plan);
  for (const auto& [name, cost] : seconds) EXPECT_TRUE(cost.has_value()) << name;
  // It is free to be any but what is disabled.
  const std::string left = "broadcast left (BMM)";
  EXPECT_GT(seconds_of_alternatives(plan, {"shuffle_both"}).at(left), seconds.at(left));
}

TEST(Optimizer, AlternativesSayWhyTheyWereNotChosen) {
  OptimizerOptions options = on(4);
  options.alternatives = true;
  const auto why = [&](const Plan& plan) {
    std::map<std::string, std::string> reasons;
    for (const Alternative& other : optimize(plan, options).alternatives)
      reasons[other.name] = other.why;
    return reasons;
  };
  const Plan a = Plan::input(tasks::matrix(400, 400, 4, 4), "A");
  const Plan b = Plan::input(tasks::matrix(400, 400, 4, 4), "B");
  auto reasons = why(a.join(b, {0, 1}, {0, 1}, "add"));  // both lie alike
  EXPECT_EQ(reasons["at one site"],
            "moves floats where nothing needs to move and keeps the busiest site computing 4 times "
            "as long");
  EXPECT_EQ(reasons["grid (SUMMA)"], "the keys cannot be split this way");
  reasons = why(tasks::product(a, b));
  EXPECT_EQ(reasons["at one site"], "keeps the busiest site computing 4 times as long");
  EXPECT_EQ(reasons["broadcast right (BMM)"], "moves 1.5 times the floats");
  options.objective = Objective::published;
  reasons = why(tasks::product(a, b));
  EXPECT_EQ(reasons["at one site"], "costs the same");
  EXPECT_EQ(reasons["grid (SUMMA)"], "6.4e+05 floats by the published cost instead of 3.2e+05");
  // What is moved is as much, but all of it comes from the one site that has the left side.
  options = on(2);
  options.alternatives = true;
  options.placed = [](const Plan& input) {
    const bool left = input.frontier()[0] == 3;
    return Placement::part(left ? std::vector<int>{} : std::vector<int>{1}, input.frontier(), 2);
  };
  reasons = why(tasks::product(Plan::input(tasks::matrix(1200, 1200, 3, 2), "A"),
                               Plan::input(tasks::matrix(1200, 600, 2, 2), "B")));
  EXPECT_EQ(reasons["broadcast left (BMM)"],
            "loads one site with 1.44e+06 floats instead of 1.26e+06");
}

}  // namespace
}  // namespace tessera
