#include "support/law_trials.h"

#include <gtest/gtest.h>

#include "ia/evaluate.h"
#include "rules/laws.h"
#include "support/expectations.h"
#include "support/rewrite_at.h"

namespace tessera {

const optimizer::Rule& rule_named(const std::string& name) {
  for (const optimizer::Rule& rule : optimizer::all_rules())
    if (rule.name == name) return rule;
  throw InternalError("there is no rule " + name);
}

PlanMaker physical(const std::function<Plan(Random&)>& logical) {
  return [logical](Random& random, int sites) {
    const Plan plan = logical(random);
    if (plan.cardinality().tuples > 300) throw PlanError("too many tuples for a trial");
    (void)plan.run(Holes::allowed);  // refuses what breaks a constraint
    return random_physical(random, plan, sites);
  };
}

PlanMaker after_rule(const std::string& name, const PlanMaker& plans) {
  return [&rule = rule_named(name), plans](Random& random, int sites) {
    const ia::Plan plan = plans(random, sites);
    for (const ia::Plan& node : ia::in_order(plan))
      if (const auto rewrite = rewrite_at(plan, node, rule)) return *rewrite.plan;
    throw PlanError(rule.name + " does not apply");
  };
}

namespace {

/// What is folded in another order may come out in another layout; nothing else may differ.
::testing::AssertionResult same_relation(const Relation& actual, const Relation& expected) {
  const auto without_layouts = [](RelationType type) {
    for (Column& column : type.columns) column.type.sparse_dims = 0;
    return type;
  };
  const auto same = types_equal(without_layouts(actual.type()), without_layouts(expected.type()));
  return same ? tuples_equal(actual, expected) : same;
}

}  // namespace

int apply_everywhere(const optimizer::Rule& rule, const ia::Plan& plan, const std::string& what) {
  std::vector<ia::Plan> after;
  for (const ia::Plan& node : ia::in_order(plan))
    if (const auto rewrite = rewrite_at(plan, node, rule)) after.push_back(*rewrite.plan);
  if (after.empty()) return 0;
  std::optional<Relation> expected;
  try {
    expected = ia::interpret(plan);
  } catch (const InternalError&) {
    throw;
  } catch (const Error&) {
    return -1;
  }
  for (const ia::Plan& rewritten : after) {
    std::string failure;
    try {
      const auto same = same_relation(ia::interpret(rewritten), *expected);
      if (!same) failure = same.message();
    } catch (const Error& error) {
      failure = std::string(error.kind()) + ": " + error.what();
    }
    EXPECT_EQ(failure, "") << rule.name << ", " << what << "\n"
                           << plan.explain() << "became\n"
                           << rewritten.explain();
  }
  return static_cast<int>(after.size());
}

void expect_law(const optimizer::Rule& rule, const PlanMaker& shape, int wanted) {
  int fired = 0;
  for (std::uint64_t seed = 0; fired < wanted && seed < 20'000; ++seed) {
    Random random(seed);
    const int sites = static_cast<int>(random.between(1, 9));
    try {
      const ia::Plan plan = shape(random, sites);
      fired += std::max(0, apply_everywhere(rule, plan, "seed " + std::to_string(seed)));
    } catch (const InternalError& error) {
      ADD_FAILURE() << rule.name << ", seed " << seed << ": " << error.what();
    } catch (const Error&) {
      continue;  // random plans are allowed to be wrong
    }
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GE(fired, wanted) << rule.name;
}

void expect_refusal(const optimizer::Rewrite& rewrite, const std::string& why) {
  EXPECT_FALSE(rewrite);
  EXPECT_NE(rewrite.why_not.find(why), std::string::npos) << "it says: " << rewrite.why_not;
}

}  // namespace tessera
