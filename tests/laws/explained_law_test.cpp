#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "support/random_queries.h"
#include "tessera/session.h"

// A statement is planned once: the physical plans that EXPLAIN shows are those that run.

namespace tessera::testing {
namespace {

using nlohmann::json;

/// A plan as EXPLAIN shows it: operators with their inputs, types, placements and costs, and the
/// memory that the run is thought to take.
json shown(const json& plan) {
  return {{"plan", plan.at("plan")},
          {"results", plan.at("results")},
          {"sites", plan.at("sites")},
          {"memory", plan.at("memory").at("peak_bytes")},
          {"spilled", plan.at("memory").at("bytes_spilled")},
          {"order", plan.at("memory").at("order")}};
}

json shown(const RunRecord& run) {
  json plan = json::parse(OptimizedPlan{run.plans, cost_of(run.plans)}.json());
  plan["memory"] = {{"peak_bytes", run.forecast.peak},
                    {"bytes_spilled", run.forecast.spilled},
                    {"order", run.forecast.order}};
  return shown(plan);
}

struct Explained {
  std::vector<json> plans = {};  // in the order in which they run
  bool is_all = true;            // no: some are made when rows are known
  std::int64_t needed = 0;       // bytes, by the plan that needs most

  void add(const json& plan) {
    plans.push_back(shown(plan));
    needed = std::max(needed, plan.at("memory").at("needed").get<std::int64_t>());
  }
};

Explained explained(Session& session, const std::string& statement) {
  std::string text;
  const ResultTable table = session.query("EXPLAIN (FORMAT JSON) " + statement);
  for (std::int64_t row = 0; row < table.rows(); ++row) text += table.text(row, 0) + "\n";
  const json read = json::parse(text);
  Explained result;
  result.is_all = read.at("rows").empty() && read.at("later").empty();
  for (const json& plan : read.at("plans")) result.add(plan);
  return result;
}

/// The plans that a statement runs.
std::vector<json> ran(Session& session, const std::string& statement) {
  std::vector<json> plans;
  session.run_options().ended = [&](const RunRecord& record) { plans.push_back(shown(record)); };
  session.execute(statement);
  session.run_options().ended = nullptr;
  return plans;
}

/// Each of `some` is among `all`, in the same order.
bool is_subsequence(const std::vector<json>& some, const std::vector<json>& all) {
  std::size_t found = 0;
  for (const json& plan : all)
    if (found < some.size() && plan == some[found]) ++found;
  return found == some.size();
}

/// A few lines a plan: its operators with where they are and what they read.
std::string text_of(const std::vector<json>& plans) {
  std::string text;
  for (const json& plan : plans) {
    text += fmt::format("results {}, memory {}, {}\n", plan.at("results").dump(),
                        plan.at("memory").dump(), plan.at("order").dump());
    for (const json& op : plan.at("plan"))
      text += fmt::format("  {} of {} {} {} flops {}\n", op.at("operator").dump(),
                          op.at("inputs").dump(), op.at("placement").dump(), op.at("type").dump(),
                          op.at("flops").dump());
  }
  return text;
}

struct Counts {
  int statements = 0;
  int failed = 0;    // when they ran
  int compared = 0;  // have plans that were shown, and are those that ran
  int whole = 0;     // of these: all that ran was shown
  int plans = 0, spilling = 0;
};

enum class Memory { enough, as_needed };

void expect_runs_as_explained(Session& session, const std::string& statement, Counts& counts,
                              Memory memory = Memory::enough) {
  ++counts.statements;
  Explained before;
  std::string why;
  session.run_options().memory_limit = 0;
  try {
    before = explained(session, statement);
    if (memory == Memory::as_needed && before.needed > 0) {
      session.run_options().memory_limit = before.needed;  // so that orders are compared, and spill
      before = explained(session, statement);
    }
  } catch (const StatementError& error) {
    why = error.what();
  }
  std::vector<json> runs;
  try {
    runs = ran(session, statement);
  } catch (const StatementError& error) {
    session.run_options().ended = nullptr;
    ASSERT_STRNE(error.kind(), "ParseError") << error.what() << ": " << statement;
    ++counts.failed;  // some values are known only when it runs
    return;
  }
  ASSERT_EQ(why, "") << "EXPLAIN refuses what runs: " << statement;
  ASSERT_TRUE(before.is_all ? before.plans == runs : is_subsequence(before.plans, runs))
      << statement << "\nis explained as\n"
      << text_of(before.plans) << "and runs as\n"
      << text_of(runs);
  counts.plans += static_cast<int>(before.plans.size());
  for (const json& plan : before.plans) counts.spilling += plan.at("spilled") > 0 ? 1 : 0;
  if (before.plans.empty()) return;
  ++counts.compared;
  counts.whole += before.is_all ? 1 : 0;
}

/// Two tensors, and versioned tables over them: chains of products, of element-wise operators and
/// of transposes, and one whose versions read the two before.
constexpr const char* tensors_and_versions =
    "CREATE TENSOR A TILE [2][2] AS tile([[0.5, 0.25]], repeats = [8, 4]);"
    "CREATE TENSOR B TILE [3][2] AS tile([[1.5], [2.5]], repeats = [4, 8]);"
    "CREATE TABLE product[0] (r, c, x) AS SELECT k0, k1, tile FROM A;"
    "CREATE TABLE product[i:1...] (r, c, x) AS SELECT p.r, a.k1, SUM(matmul(p.x, a.tile)) "
    "FROM product[i-1] AS p, A AS a WHERE p.c = a.k0 GROUP BY p.r, a.k1;"
    "CREATE TABLE turned[0] (r, c, x) AS SELECT k0, k1, tile FROM A;"
    "CREATE TABLE turned[i:1...] (r, c, x) AS SELECT c, r, t(x) * 2 FROM turned[i-1];"
    "CREATE TABLE steps[0] (r, c, x) AS SELECT k0, k1, tile FROM A;"
    "CREATE TABLE steps[i:1...] (r, c, x) AS SELECT s.r, s.c, relu(s.x - a.tile) "
    "FROM steps[i-1] AS s, A AS a WHERE s.r = a.k0 AND s.c = a.k1;"
    "CREATE TABLE sums[0] (r, c, x) AS SELECT k0, k1, tile FROM A;"
    "CREATE TABLE sums[1] (r, c, x) AS SELECT r, c, x * 2 FROM product[1];"
    "CREATE TABLE sums[i:2...] (r, c, x) AS SELECT s.r, s.c, s.x + t.x "
    "FROM sums[i-1] AS s, sums[i-2] AS t WHERE s.r = t.r AND s.c = t.c;";

template <class... Choices>
std::string one_of(std::mt19937& chance, const Choices&... choices) {
  const std::vector<std::string> all{choices...};
  return all[chance() % all.size()];
}

std::string random_version(std::mt19937& chance) {
  return fmt::format("{}[{}]", one_of(chance, "product", "turned", "steps", "sums"), chance() % 9);
}

std::string random_query_of_versions(std::mt19937& chance) {
  const std::string version = random_version(chance);
  switch (chance() % 3) {
    case 0: return "SELECT * FROM " + version;
    case 1: return "SELECT r, SUM(x) FROM " + version + " GROUP BY r";
    default:
      return fmt::format(
          "SELECT a.r, b.c, a.x + b.x FROM {} AS a, {} AS b WHERE a.r = b.r AND "
          "a.c = b.c AND a.r < {}",
          version, random_version(chance), 1 + chance() % 4);
  }
}

std::string random_expression(std::mt19937& chance, int depth) {
  if (depth == 0) return one_of(chance, "A", "A @ B", "B.T", "A.T");
  switch (chance() % 5) {
    case 0: return fmt::format("relu({})", random_expression(chance, depth - 1));
    case 1: return fmt::format("({}) * 2", random_expression(chance, depth - 1));
    case 2: return fmt::format("sum({}, axes = [0])", random_expression(chance, depth - 1));
    case 3: {
      const std::string twice = random_expression(chance, depth - 1);
      return fmt::format("({0}) + ({0})", twice);
    }
    default: return fmt::format("({}).T", random_expression(chance, depth - 1));
  }
}

/// A statement of any kind that EXPLAIN takes.
std::string random_statement(std::mt19937& chance, int number) {
  const std::string query =
      chance() % 3 == 0 ? random_query_of_versions(chance) : random_query(chance);
  switch (chance() % 10) {
    case 0: return fmt::format("CREATE TABLE made{} AS {}", number, query);
    case 1:
      return fmt::format("CREATE TABLE named{} (p, q, z) AS SELECT k0 + 1, k1, tile * 3 FROM {}",
                         number, one_of(chance, "A", "B"));
    case 2: return fmt::format("CREATE TENSOR T{} AS {}", number, random_expression(chance, 3));
    case 3: return "MATERIALIZE " + random_version(chance);
    case 4:
      return fmt::format("EXECUTE (MATERIALIZE {}; {}; MATERIALIZE {})", random_version(chance),
                         query, random_version(chance));
    case 5: return fmt::format("EXECUTE ({}; {})", query, random_query(chance));
    default: return query;
  }
}

int number_in(const char* variable, int usual) {
  const char* said = std::getenv(variable);
  return said != nullptr ? std::atoi(said) : usual;
}

/// Sites, memory and rows are drawn independently of each other.
TEST(Explained, ThePlansThatAreShownAreThoseThatRun) {
  const int wanted = number_in("STATEMENTS", 1000), seed = number_in("SEED", 1);
  constexpr int a_database = 50;
  Counts counts;
  for (int round = 0; counts.compared < wanted; ++round) {
    std::mt19937 chance(static_cast<unsigned>(seed * 104729 + round));
    SessionOptions options;
    options.run.sites = chance() % 2 == 0 ? 1 : 4;
    options.by_rows = chance() % 8 == 0;
    const Memory memory = chance() % 2 == 0 ? Memory::as_needed : Memory::enough;
    Session session(Database::temporary(), options);
    const std::string tables = tables_for_random_queries(chance, 1) + tensors_and_versions;
    session.execute(tables);
    for (int i = 0; i < a_database; ++i) {
      SCOPED_TRACE(fmt::format(
          "{} sites, {}, {} over\n{}", options.run.sites, options.by_rows ? "by rows" : "by plans",
          memory == Memory::enough ? "enough memory" : "memory as needed", tables));
      ASSERT_NO_FATAL_FAILURE(
          expect_runs_as_explained(session, random_statement(chance, i), counts, memory));
    }
  }
  const std::string found = fmt::format(
      "{} statements: {} failed, {} were compared, {} of these as a whole; {} plans, {} spill",
      counts.statements, counts.failed, counts.compared, counts.whole, counts.plans,
      counts.spilling);
  fmt::print("{}\n", found);
  EXPECT_LT(counts.failed, counts.statements / 5) << found;
  EXPECT_GT(counts.whole, counts.compared / 2) << found;
  EXPECT_GT(counts.spilling, counts.compared / 100) << found;
}

/// Versions that are all one plan, of up to 3,000 operators.
TEST(Explained, AlsoOfThousandsOfOperators) {
  const int wanted = number_in("DEEP", 3), seed = number_in("SEED", 1);
  std::mt19937 chance(static_cast<unsigned>(seed));
  Counts counts;
  for (int i = 0; i < wanted; ++i) {
    SessionOptions options;
    options.run.sites = i % 2 == 0 ? 4 : 1;
    options.frame_size = 4000;
    Session session(Database::temporary(), options);
    session.execute(tensors_and_versions);
    const auto steps = [&](int least, int most) {
      return least + static_cast<int>(chance() % static_cast<unsigned>(most - least));
    };
    // Of 3, 2, 1 and 2 operators a version.
    const std::string version = one_of(chance, fmt::format("product[{}]", steps(200, 990)),
                                       fmt::format("steps[{}]", steps(300, 1400)),
                                       fmt::format("turned[{}]", steps(500, 2900)),
                                       fmt::format("sums[{}]", steps(300, 1400)));
    const Memory memory = i % 3 == 1 ? Memory::as_needed : Memory::enough;
    ASSERT_NO_FATAL_FAILURE(expect_runs_as_explained(
        session, one_of(chance, "SELECT * FROM ", "MATERIALIZE ") + version, counts, memory));
    EXPECT_EQ(counts.whole, i + 1) << version;
  }
}

}  // namespace
}  // namespace tessera::testing
