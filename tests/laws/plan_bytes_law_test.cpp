#include <gtest/gtest.h>

#include <cstring>

#include "support/expectations.h"
#include "support/random_physical_plans.h"
#include "tessera/run.h"
#include "tra/plan_bytes.h"
#include "tra/plan_node.h"

// What is written of a plan is the plan: who reads it has the same one, and runs it alike.

namespace tessera {
namespace {

/// The inputs of plans that are here already, by name.
FindInput inputs_below(const std::vector<Plan>& plans) {
  std::vector<Plan> inputs;
  for (const Plan& plan : in_order(plans))
    if (std::holds_alternative<op::Input>(operator_of(plan))) inputs.push_back(plan);
  return [inputs](const std::string& name, const RelationType& type) {
    for (const Plan& input : inputs)
      if (std::get<op::Input>(operator_of(input)).name == name && input.type() == type)
        return input;
    throw PlanError("no input is called " + name);
  };
}

/// Whether each input can be told from the others by its name and its type.
bool inputs_are_told_apart(const std::vector<Plan>& plans) {
  const FindInput find = inputs_below(plans);
  for (const Plan& plan : in_order(plans))
    if (const auto* input = std::get_if<op::Input>(&operator_of(plan)))
      if (&find(input->name, plan.type()).node() != &plan.node()) return false;
  return true;
}

template <class Plans>
std::string explained(const Plans& plans) {
  std::string text;
  for (const auto& plan : plans) text += plan.explain() + "\n";
  return text;
}

TEST(PlanBytes, APlanThatIsReadIsTheOneThatWasWritten) {
  int read_back = 0;
  for (std::uint64_t seed = 0; read_back < 1500; ++seed) {
    Random random(seed);
    const auto plan = random_plan(random, static_cast<int>(random.between(1, 8)),
                                  random.chance(0.5) ? Inputs::at_hand : Inputs::read);
    if (!plan || !inputs_are_told_apart({*plan})) continue;
    SCOPED_TRACE(seed);
    const std::vector<Plan> roots = {*plan, *plan};  // one result may be wanted twice
    const std::string bytes = to_bytes(roots);
    const std::vector<Plan> again = plans_from_bytes(bytes, inputs_below(roots));
    ASSERT_EQ(again.size(), 2u);
    EXPECT_EQ(&again[0].node(), &again[1].node());
    EXPECT_EQ(explained(again), explained(roots));
    EXPECT_EQ(again[0].type(), plan->type());
    EXPECT_EQ(to_bytes(again), bytes);
    if (const auto expected = interpreted(*plan))
      EXPECT_TRUE(relations_equal(*interpreted(again[0]), *expected));
    ++read_back;
  }
}

TEST(PlanBytes, APhysicalPlanThatIsReadIsTheOneThatWasWritten) {
  int read_back = 0;
  for (std::uint64_t seed = 0; read_back < 1000; ++seed) {
    Random random(seed + 50000);
    const auto plan = random_plan(random, static_cast<int>(random.between(1, 6)));
    if (!plan || !inputs_are_told_apart({*plan})) continue;
    SCOPED_TRACE(seed);
    const int sites = static_cast<int>(random.between(1, 9));
    std::optional<ia::Plan> physical;
    try {
      physical = random_physical(random, *plan, sites);
    } catch (const Error&) {
      continue;
    }
    const std::vector<ia::Plan> roots = {random.chance(0.5) ? ia::fused(*physical) : *physical};
    const std::string bytes = ia::to_bytes(roots);
    const std::vector<ia::Plan> again =
        ia::plans_from_bytes(bytes, inputs_below({roots.front().logical()}));
    EXPECT_EQ(explained(again), explained(roots));
    EXPECT_EQ(again.front().placement(), roots.front().placement());
    EXPECT_EQ(ia::to_bytes(again), bytes);
    ++read_back;
  }
}

/// What a run computes and does, to be compared with another one.
struct Told {
  std::vector<Relation> results = {};
  RunReport report = {};
};

Told told(PlannedRun planned) {
  Told what;
  what.results = run(std::move(planned), &what.report);
  return what;
}

TEST(PlanBytes, ARunThatIsReadDoesWhatTheOneThatWasWrittenDoes) {
  int ran = 0;
  for (std::uint64_t seed = 0; ran < 400; ++seed) {
    Random random(seed + 90000);
    const auto plan = random_plan(random, static_cast<int>(random.between(1, 8)),
                                  random.chance(0.7) ? Inputs::at_hand : Inputs::read);
    if (!plan || !inputs_are_told_apart({*plan}) || !interpreted(*plan)) continue;
    SCOPED_TRACE(seed);
    RunOptions options;
    options.holes = Holes::allowed;
    options.sites = static_cast<int>(random.between(1, 6));
    options.threads = 2;
    PlannedRun planned = plan_run({*plan}, options);
    const std::string bytes = to_bytes(planned);
    PlannedRun read = planned_run_from_bytes(bytes, inputs_below({*plan}), options);
    EXPECT_EQ(explained(read.plans()), explained(planned.plans()));
    EXPECT_EQ(read.memory()->peak, planned.memory()->peak);
    EXPECT_EQ(to_bytes(read), bytes);
    const Told expected = told(std::move(planned)), found = told(std::move(read));
    EXPECT_TRUE(relations_equal(found.results.front(), expected.results.front()));
    EXPECT_EQ(found.report.sent, expected.report.sent);
    EXPECT_EQ(found.report.received, expected.report.received);
    ++ran;
  }
}

/// The bytes with a right checksum, whatever has become of them.
std::string sealed(std::string bytes) {
  const std::size_t covered = bytes.size() - sizeof(std::uint64_t);
  const std::uint64_t checksum = checksum_of(std::string_view(bytes).substr(0, covered));
  std::memcpy(bytes.data() + covered, &checksum, sizeof checksum);
  return bytes;
}

/// One bit of the bytes is another one, or they end too early.
std::string damaged(Random& random, std::string bytes) {
  const auto at =
      static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(bytes.size()) - 1));
  if (random.chance(0.2))
    bytes.resize(at);
  else
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.between(0, 7)));
  return bytes;
}

/// How many of so many damaged forms of some bytes are read, if their checksum is made right. The
/// others, and all whose checksum is not, are refused as errors of whoever gave them.
template <class Read>
int read_in_spite(Random& random, const std::string& bytes, int forms, const Read& read) {
  int taken = 0;
  for (int form = 0; form < forms; ++form) {
    const std::string other = damaged(random, bytes);
    EXPECT_THROW(read(other), IoError) << "form " << form;
    if (other.size() <= sizeof(std::uint64_t)) continue;
    try {
      read(sealed(other));
      ++taken;
    } catch (const InternalError& error) {
      ADD_FAILURE() << "form " << form << ": " << error.what();
    } catch (const Error&) {
    }
  }
  return taken;
}

TEST(PlanBytes, DamageIsRefusedOrAnotherPlan) {
  int plans = 0, taken = 0, runs_taken = 0;
  constexpr int forms = 30;
  for (std::uint64_t seed = 0; plans < 300; ++seed) {
    Random random(seed + 130000);
    const auto plan = random_plan(random, static_cast<int>(random.between(1, 5)));
    if (!plan || !inputs_are_told_apart({*plan}) || !interpreted(*plan)) continue;
    SCOPED_TRACE(seed);
    const FindInput find = inputs_below({*plan});
    // What can be read of a plan is a plan, which can be run or refuses to be.
    taken += read_in_spite(random, to_bytes({*plan}), forms, [&](const std::string& bytes) {
      for (const Plan& read : plans_from_bytes(bytes, find)) (void)interpreted(read);
    });
    // A run is read, but not run: it is trusted like a program, as its tasks say what to do.
    RunOptions options;
    options.holes = Holes::allowed;
    options.sites = static_cast<int>(random.between(1, 4));
    PlannedRun planned = plan_run({*plan}, options);
    runs_taken += read_in_spite(random, to_bytes(planned), forms, [&](const std::string& bytes) {
      (void)planned_run_from_bytes(bytes, find, options);
    });
    ++plans;
  }
  EXPECT_LT(taken, plans * forms / 2);
  EXPECT_LT(runs_taken, plans * forms / 2);
}

}  // namespace
}  // namespace tessera
