// Every rule of the optimizer, on plans shaped for it: results stay the same, tile for tile.

#include <gtest/gtest.h>

#include <set>

#include "rules/laws.h"
#include "rules/multiplication.h"
#include "support/law_trials.h"
#include "support/rewrite_at.h"

namespace tessera {
namespace {

using optimizer::Rule;

const std::vector<const char*> any_join = {"add", "mul", "sub", "maximum"};

std::vector<int> some(Random& random, const Plan& plan) {
  return random_components(random, plan.type().arity(), 0.5);
}
Plan filtered(Random& random, const Plan& plan) {
  return plan.filter(random_predicate(random, plan.type().arity()));
}
Plan folded(Random& random, const Plan& plan, const std::vector<const char*>& kernels) {
  return plan.aggregate(some(random, plan), random.pick(kernels));
}
Plan rekeyed(Random& random, const Plan& plan) {
  const int arity = plan.type().arity();
  if (arity == 1) return plan.rekey(random.pick<const char*>({"<k0, 0>", "<2*k0 + 1>"}));
  if (arity == 2) return plan.rekey(random.pick<const char*>({"<k1, k0>", "<k0 * 8 + k1>"}));
  return plan.rekey(random.pick<const char*>({"<k2, k0, k1>", "<k0, k1 * 8 + k2>"}));
}
Plan mapped(Random& random, const Plan& plan) {
  if (random.chance(0.4) && plan.type().arity() > 0) return rekeyed(random, plan);
  return random_transform(random, plan);
}
/// A transformation that distributes over the fold, often.
Plan distributing(Random& random, const Plan& plan, bool sum) {
  std::vector<const char*> kernels = sum ? std::vector<const char*>{"neg", "mul_scalar(value=3)"}
                                         : std::vector<const char*>{"relu", "add_scalar(value=2)"};
  if (plan.type().columns[0].type.shape.rank() > 0) {
    kernels.push_back("transpose");
    if (sum) kernels.push_back("sum(axes=[0])");
  }
  std::vector<Apply> stage;
  for (std::size_t c = 0; c < plan.type().columns.size(); ++c)
    stage.push_back(Apply(random.pick(kernels), {static_cast<int>(c)}));
  return plan.transform(stage);
}
Plan joined(Random& random) {
  const Plan left = random_source(random);
  return random_join(random, left, random.chance(0.4) ? left : random_source(random), any_join);
}

/// What `top` makes of a random physical plan that is moved once more.
PlanMaker on_a_move(const std::function<ia::Plan(Random&, const ia::Plan&)>& top) {
  const PlanMaker below = physical([](Random& random) { return random_source(random); });
  return [=](Random& random, int sites) {
    return top(random, random_move(random, below(random, sites)));
  };
}

Plan multiplied(Random& random) {
  const auto folds = random.chance(0.7) ? "add" : random.pick<const char*>({"maximum", "mul"});
  if (random.chance(0.5)) {
    const Plan left = random_source(random, 2, 2);
    const Plan product = left.join(left.transform("transpose"), {1}, {1}, "matmul");
    return product.aggregate({0, 2}, folds);
  }
  const Plan product = joined(random);
  return product.aggregate(random_components(random, product.type().arity(), 0.6), folds);
}

TEST(Rules, MergeFilters) {
  expect_law(rule_named("merge_filters"), physical([](Random& random) {
               return filtered(random, filtered(random, random_source(random)));
             }));
}

TEST(Rules, MergeMaps) {
  expect_law(rule_named("merge_maps"), physical([](Random& random) {
               const Plan source = random_source(random);
               return mapped(random,
                             random.chance(0.2) ? source.tile(0, 9) : mapped(random, source));
             }));
}

TEST(Rules, FilterBeforeMap) {
  expect_law(rule_named("filter_before_map"), physical([](Random& random) {
               return filtered(random, random_transform(random, random_source(random)));
             }));
}

TEST(Rules, FinishAggregation) {
  expect_law(rule_named("finish_aggregation"), physical([](Random& random) {
               const Plan groups = folded(random, random_source(random), {"add", "maximum", "sub"});
               return random_transform(random, groups);
             }));
}

TEST(Rules, MapBeforeAggregation) {
  expect_law(rule_named("map_before_aggregation"), physical([](Random& random) {
               const bool sum = random.chance(0.6);
               const Plan groups = folded(random, random_source(random), {sum ? "add" : "maximum"});
               return distributing(random, groups, sum);
             }));
}

TEST(Rules, AggregateBeforeRekey) {
  expect_law(rule_named("aggregate_before_rekey"), physical([](Random& random) {
               const Plan source = random_source(random);
               const int arity = source.type().arity();
               if (arity < 2) throw PlanError("there is nothing to choose");
               Plan turned = arity == 2 ? source.rekey(random.pick<const char*>(
                                              {"<k1, k0>", "<k0, k1, k0>", "<k0>", "<k1>"}))
                                        : source.rekey(random.pick<const char*>(
                                              {"<k2, k0, k1>", "<k0, k2>", "<k1, k2, k0>"}));
               if (random.chance(0.4)) turned = random_transform(random, turned);
               return folded(random, turned, {"add", "maximum", "sub"});
             }));
}

/// Also with the keys and the tiles in one map.
TEST(Rules, AggregateBeforeRekeyOfOneMap) {
  expect_law(rule_named("aggregate_before_rekey"),
             after_rule("merge_maps", physical([](Random& random) {
                          const Plan turned = random_source(random, 2, 2).rekey("<k1, k0>");
                          return folded(random, random_transform(random, turned), {"add", "sub"});
                        })));
}

TEST(Rules, MapAfterAggregation) {
  expect_law(rule_named("map_after_aggregation"), [](Random& random, int sites) {
    const bool sum = random.chance(0.6);
    Plan source = distributing(random, random_source(random), sum);
    if (random.chance(0.3)) source = distributing(random, source, sum);
    const ia::Plan input = random_physical(random, source, sites);
    const std::vector<int> by = some(random, source);
    const Plan groups = source.aggregate(by, sum ? "add" : "maximum");
    ia::Aggregate aggregate{input, by, std::get<op::Aggregate>(operator_of(groups)).kernels};
    if (!sum && input.type().presence == Presence::sparse) aggregate.input = input.fill();
    if (random.chance(0.2)) aggregate.finish = {{Apply("neg", {0})}};
    return ia::make(aggregate);
  });
}

TEST(Rules, FilterBeforeAggregation) {
  expect_law(
      rule_named("filter_before_aggregation"), physical([](Random& random) {
        return filtered(random, folded(random, random_source(random), {"add", "maximum", "sub"}));
      }));
}

TEST(Rules, FilterBeforeJoin) {
  expect_law(rule_named("filter_before_join"),
             physical([](Random& random) { return filtered(random, joined(random)); }));
}

TEST(Rules, FilterBeforeJoinThatRenamesItsKey) {
  expect_law(rule_named("filter_before_join"),
             after_rule("map_into_join", physical([](Random& random) {
                          return filtered(random, rekeyed(random, joined(random)));
                        })));
}

TEST(Rules, MapIntoJoin) {
  expect_law(rule_named("map_into_join"),
             physical([](Random& random) { return mapped(random, joined(random)); }));
}

TEST(Rules, MapBeforeJoin) {
  expect_law(rule_named("map_before_join"), physical([](Random& random) {
               const bool sum = random.chance(0.6);
               const Plan left = random_source(random);
               const Plan right = random.chance(0.6) ? left : random_source(random);
               return distributing(
                   random,
                   random_join(random, left, right,
                               sum ? std::vector<const char*>{"add", "sub"}
                                   : std::vector<const char*>{"maximum", "minimum"}),
                   sum);
             }));
}

TEST(Rules, LastMoveCounts) {
  expect_law(rule_named("last_move_counts"), on_a_move([](Random& random, const ia::Plan& plan) {
               return random_move(random, plan);
             }));
}

TEST(Rules, IdleMove) {
  expect_law(rule_named("idle_move"), on_a_move([](Random&, const ia::Plan& plan) {
               return plan.shuffle(plan.placement());
             }));
}

TEST(Rules, FilterBeforeMove) {
  expect_law(rule_named("filter_before_move"), on_a_move([](Random& random, const ia::Plan& plan) {
               const KeyPredicate predicate = random_predicate(random, plan.type().arity());
               const bool sparse = plan.type().presence == Presence::sparse;
               const bool stays =
                   plan.logical().filter(predicate).type().presence == Presence::sparse;
               return (sparse && !stays ? plan.fill() : plan).filter(predicate);
             }));
}

/// Summands on their way to where they are folded.
TEST(Rules, MovesAndFiltersOfSummands) {
  const PlanMaker below = physical([](Random& random) { return random_source(random); });
  const PlanMaker summands = [=](Random& random, int sites) {
    const ia::Plan source = below(random, sites);
    const std::vector<KernelCall> sum(source.type().columns.size(), "add");
    const std::vector<int> by = some(random, source.logical());
    ia::Plan plan = source.aggregate(by, sum);
    if (plan.pending().empty()) throw PlanError("the groups are whole");
    for (int step = 0; step < 3; ++step) {
      if (random.chance(0.5)) {
        plan = random_move(random, plan);
        continue;
      }
      const bool sparse = plan.type().presence == Presence::sparse;
      plan = plan.filter(random_predicate(random, plan.type().arity()));
      if (sparse && plan.type().presence != Presence::sparse) throw PlanError("zeros are needed");
    }
    std::vector<int> all;
    for (int i = 0; i < plan.type().arity(); ++i) all.push_back(i);
    return random_move(random, plan).aggregate(all, sum);
  };
  for (const char* name : {"last_move_counts", "filter_before_move", "filter_before_aggregation"})
    expect_law(rule_named(name), summands);
}

/// A map that makes more of its input, or less.
ia::Plan any_map(Random& random, const ia::Plan& plan) {
  const std::vector<Apply> twice = {Apply("neg", {0}), Apply("relu", {0})};
  switch (random.between(0, 4)) {
    case 0: return plan.duplicate(0, random.between(1, 3));
    case 1: return plan.tile(0, random.between(1, 3));
    case 2: return plan.map(std::nullopt, {twice});
    case 3: return plan.map(std::nullopt, {{Apply("sum(axes=[0])", {0})}});
    default:
      return plan.map(plan.type().arity() == 1   ? KeyFunction("<k0, 0>")
                      : plan.type().arity() == 2 ? KeyFunction("<k0, 0, k1>")
                                                 : KeyFunction("<k1, k0 * 8 + k2>"),
                      {twice});
  }
}

TEST(Rules, MapBeforeMove) { expect_law(rule_named("map_before_move"), on_a_move(any_map)); }

TEST(Rules, MapAfterMove) {
  const PlanMaker below = physical([](Random& random) { return random_source(random); });
  expect_law(rule_named("map_after_move"), [=](Random& random, int sites) {
    return random_move(random, any_map(random, below(random, sites)));
  });
}

TEST(Rules, FillAfterMove) {
  expect_law(rule_named("fill_after_move"), on_a_move([](Random& random, const ia::Plan& plan) {
               if (plan.type().presence != Presence::sparse) throw PlanError("not sparse");
               return random_move(random, plan.fill());
             }));
}

TEST(Rules, SkipShuffle) {
  expect_law(rule_named("skip_shuffle"), physical([](Random& random) {
               return folded(random, random_source(random), {"add", "maximum", "sub"});
             }));
}

TEST(Rules, AggregateTwice) {
  expect_law(rule_named("aggregate_twice"), physical([](Random& random) {
               return folded(random, random_source(random), {"add", "maximum"});
             }));
}

TEST(Rules, WaysToJoin) {
  for (const char* name : {"broadcast_left", "broadcast_right", "shuffle_both"})
    expect_law(rule_named(name), physical(joined));
}

TEST(Rules, JoinThroughShuffle) {
  const Rule& both = rule_named("shuffle_both");
  const PlanMaker below = physical(joined);
  expect_law(rule_named("join_through_shuffle"), [&](Random& random, int sites) {
    ia::Plan join = below(random, sites);
    if (const auto rewrite = both.apply(join)) join = *rewrite.plan;
    return join.shuffle(random_components(random, join.type().arity(), 0.8));
  });
}

TEST(Rules, Multiplications) {
  for (const char* name :
       {"broadcast_multiply_left", "broadcast_multiply_right", "cross_product_multiply",
        "replicated_multiply", "grid_multiply", "two_and_a_half_d"})
    expect_law(rule_named(name), physical(multiplied));
}

/// Of a join that renames its key, into an aggregation with a finish, of sums in parts.
TEST(Rules, MultiplicationsAfterOtherRules) {
  const PlanMaker renamed = after_rule("map_into_join", physical([](Random& random) {
                                         const Plan products = rekeyed(random, joined(random));
                                         return products.aggregate(some(random, products), "add");
                                       }));
  const PlanMaker finished = after_rule("finish_aggregation", physical([](Random& random) {
                                          return random_transform(random, multiplied(random));
                                        }));
  const PlanMaker in_parts = after_rule("aggregate_twice", physical(multiplied));
  for (const char* name : {"broadcast_multiply_left", "cross_product_multiply"})
    expect_law(rule_named(name), renamed, 200);
  for (const char* name : {"cross_product_multiply", "replicated_multiply", "two_and_a_half_d"}) {
    expect_law(rule_named(name), finished, 200);
    expect_law(rule_named(name), in_parts, 200);
  }
}

TEST(Rules, MultiplicationsAsPrinted) {
  using namespace optimizer;
  expect_law({"broadcast_multiply, as printed", "",
              [](const ia::Plan& plan) {
                return broadcast_multiply(plan, Side::left, Folding::as_printed);
              }},
             physical(multiplied));
  expect_law(
      {"cross_product_multiply, as printed", "",
       [](const ia::Plan& plan) { return cross_product_multiply(plan, Folding::as_printed); }},
      physical(multiplied));
}

TEST(Rules, MultiplicationOnAnyGrid) {
  expect_law(
      {"grid_multiply, any grid", "",
       [](const ia::Plan& plan) {
         // A grid that is any, but the same for a plan.
         Random random(static_cast<std::uint64_t>(plan.type().arity() + 7 * plan.sites()));
         std::vector<int> extents;
         int left = plan.sites();
         const auto* aggregate = std::get_if<ia::Aggregate>(&operator_of(plan));
         ia::Plan input = plan;
         while (aggregate != nullptr && std::get_if<ia::Join>(&operator_of(input)) == nullptr) {
           const auto inputs = inputs_of(operator_of(input));
           if (inputs.empty()) break;
           input = ia::Plan(inputs.front());
         }
         for (int i = 0; i < input.type().arity(); ++i) {
           extents.push_back(static_cast<int>(random.between(1, left)));
           left /= extents.back();
         }
         random.shuffle(extents);
         return optimizer::grid_multiply(plan, extents);
       }},
      physical(multiplied), 1000);
}

/// All rules on plans that are not shaped for any of them, and one after the other.
TEST(Rules, OneAfterTheOther) {
  int fired = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    Random random(seed);
    try {
      const auto logical = random_plan(random, static_cast<int>(random.between(2, 6)));
      if (!logical || logical->cardinality().tuples > 300) continue;
      (void)logical->run(Holes::allowed);
      ia::Plan plan = random_physical(random, *logical, static_cast<int>(random.between(1, 9)));
      for (int step = 0; step < 8; ++step) {
        const Rule& rule = random.pick(optimizer::all_rules());
        fired += std::max(0, apply_everywhere(rule, plan, "seed " + std::to_string(seed)));
        for (const ia::Plan& node : ia::in_order(plan))
          if (const auto rewrite = rewrite_at(plan, node, rule)) {
            plan = *rewrite.plan;
            break;
          }
      }
    } catch (const InternalError& error) {
      FAIL() << "seed " << seed << ": " << error.what();
    } catch (const Error&) {
      continue;
    }
    if (HasFailure()) return;
  }
  EXPECT_GE(fired, 500);
}

TEST(Rules, AreListedOnceUnderTheirNames) {
  std::set<std::string> names;
  for (const Rule& rule : optimizer::all_rules()) {
    EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
    EXPECT_FALSE(rule.law.empty()) << rule.name;
    EXPECT_TRUE(rule.apply) << rule.name;
  }
  EXPECT_EQ(names.size(), 31u);
}

}  // namespace
}  // namespace tessera
