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
  int statements = 0, failed = 0, plans = 0, whole = 0, spilling = 0;
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
  } catch (const StatementError&) {
    session.run_options().ended = nullptr;
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
  counts.whole += before.is_all && !runs.empty() ? 1 : 0;
}

/// A statement of any kind that EXPLAIN takes.
std::string random_statement(std::mt19937& chance, int number) {
  const std::string query = random_query(chance);
  switch (chance() % 6) {
    case 0: return fmt::format("CREATE TABLE made{} AS {}", number, query);
    case 1: return fmt::format("EXECUTE ({}; {})", query, random_query(chance));
    default: return query;
  }
}

int number_in(const char* variable, int usual) {
  const char* said = std::getenv(variable);
  return said != nullptr ? std::atoi(said) : usual;
}

TEST(Explained, ThePlansThatAreShownAreThoseThatRun) {
  const int statements = number_in("STATEMENTS", 3000), seed = number_in("SEED", 1);
  constexpr int a_database = 50;
  Counts counts;
  for (int done = 0; done < statements; done += a_database) {
    std::mt19937 chance(static_cast<unsigned>(seed * 104729 + done));
    const Database database = Database::temporary();
    const int setting = done / a_database % 6;
    SessionOptions options;
    options.run.sites = setting % 2 == 0 ? 1 : 4;
    options.by_rows = setting == 4;
    const Memory memory = setting == 2 || setting == 3 ? Memory::as_needed : Memory::enough;
    Session session(database, options);
    const std::string tables = tables_for_random_queries(chance, 1);
    session.execute(tables);
    for (int i = 0; i < a_database; ++i) {
      SCOPED_TRACE(fmt::format("setting {} over\n{}", setting, tables));
      ASSERT_NO_FATAL_FAILURE(
          expect_runs_as_explained(session, random_statement(chance, i), counts, memory));
    }
  }
  EXPECT_LT(counts.failed, counts.statements / 5);
  EXPECT_GT(counts.plans, counts.statements / 3);
  EXPECT_GT(counts.whole, counts.statements / 8);
  EXPECT_GT(counts.spilling, counts.statements / 100);
  RecordProperty(
      "counts",
      fmt::format("{} statements: {} failed, {} plans, {} explained as a whole, "
                  "{} plans spill",
                  counts.statements, counts.failed, counts.plans, counts.whole, counts.spilling));
}

/// Versions of a table that are all one plan, of 3 operators each.
TEST(Explained, AlsoOfThousandsOfOperators) {
  for (const auto& [sites, steps] : {std::pair{1, 990}, std::pair{4, 350}}) {
    SessionOptions options;
    options.run.sites = sites;
    options.frame_size = 4000;
    Session session(Database::temporary(), options);
    session.execute(
        "CREATE TENSOR A TILE [2][2] AS tile([[0.5]], repeats = [4, 4]);"
        "CREATE TABLE P[0] (r, c, m) AS SELECT k0, k1, tile FROM A;"
        "CREATE TABLE P[i:1...] (r, c, m) AS SELECT p.r, a.k1, SUM(matrix_multiply(p.m, a.tile)) "
        "FROM P[i-1] AS p, A AS a WHERE p.c = a.k0 GROUP BY p.r, a.k1;");
    Counts counts;
    ASSERT_NO_FATAL_FAILURE(
        expect_runs_as_explained(session, fmt::format("SELECT * FROM P[{}]", steps), counts));
    EXPECT_EQ(counts.whole, 1) << sites;
    ASSERT_NO_FATAL_FAILURE(
        expect_runs_as_explained(session, fmt::format("MATERIALIZE P[{}]", steps / 2), counts));
    EXPECT_EQ(counts.whole, 2) << sites;
  }
}

}  // namespace
}  // namespace tessera::testing
