// EXPLAIN ANALYZE: what it tells agrees with what runs, and it leaves nothing behind.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "session/pipeline.h"
#include "tessera/session.h"

namespace tessera {
namespace {

using nlohmann::json;

std::string text_of(Session& session, const std::string& statement) {
  const ResultTable lines = session.query(statement);
  std::string text;
  for (std::int64_t row = 0; row < lines.rows(); ++row) text += lines.text(row, 0) + "\n";
  return text;
}

json analysed(Session& session, const std::string& options, const std::string& statement) {
  return json::parse(text_of(session, "EXPLAIN ANALYZE (FORMAT JSON" + options + ") " + statement));
}

/// Everything that a database has: relations and texts, but for what is learnt of frames.
std::vector<std::string> contents(const Database& database) {
  std::vector<std::string> all;
  for (const StoredInfo& info : database.list()) all.push_back(info.name);
  for (const auto& [name, text] : database.texts())
    if (name != "frames/history") all.push_back(name + ": " + text);
  return all;
}

Session with_matrices() {
  Session session(Database::temporary());
  const Tile a = Tile::zeros(DType::f64, {60, 80}), b = Tile::zeros(DType::f64, {80, 100});
  session.database().store("A", Relation::from_tensor(a, {20, 20}));
  session.database().store("B", Relation::from_tensor(b, {20, 20}));
  return session;
}

Session with_pascal() {
  Session session(Database::temporary());
  session.execute(
      "CREATE TABLE p[0][0] (val) AS SELECT 1;"
      "CREATE TABLE p[i:1...][i] (val) AS SELECT * FROM p[i-1][i-1];"
      "CREATE TABLE p[i:1...][0] (val) AS SELECT * FROM p[i-1][0];"
      "CREATE TABLE p[i:2...][j:1...i-1] (val) AS"
      " SELECT a.val + b.val AS val FROM p[i-1][j-1] AS a, p[i-1][j] AS b;"
      "SET frame_size = 20");
  return session;
}

TEST(Explain, ADenseProductTakesTheFlopsThatWerePredicted) {
  Session session = with_matrices();
  const std::string by_tiles =
      "SELECT A.k0, B.k1, SUM(matmul(A.tile, B.tile)) FROM A, B WHERE A.k1 = B.k0 "
      "GROUP BY A.k0, B.k1";
  for (const std::string& statement : {std::string("CREATE TENSOR C AS A @ B"), by_tiles})
    for (const char* options : {"", ", SITES 4"}) {
      const json all = analysed(session, options, statement);
      const json& told = all.at("analyze");
      SCOPED_TRACE(statement + options + told.dump(2));
      const json &predicted = told.at("predicted"), &measured = told.at("measured");
      // Sums of products that are made at several sites, or go through another kernel, are added
      // up.
      EXPECT_GE(measured.at("flops"), 2.0 * 60 * 80 * 100);
      if (*options == 0 && statement != by_tiles)
        EXPECT_EQ(measured.at("flops"), 2.0 * 60 * 80 * 100);
      for (const char* quantity : {"flops", "bytes", "floats_moved", "bytes_read"})
        EXPECT_EQ(predicted.at(quantity), measured.at(quantity)) << quantity;
      // What is explained is what runs.
      EXPECT_EQ(all.at("plans").at(0).at("transfer_floats"), predicted.at("floats_moved"));
      EXPECT_EQ(all.at("plans").at(0).at("flops"), predicted.at("flops"));
      EXPECT_LE(measured.at("peak_bytes"), predicted.at("peak_bytes"));
      ASSERT_EQ(told.at("runs").size(), 1);
      int with_measures = 0;
      for (const json& one : told.at("runs")[0].at("plan")) {
        if (one.at("measured").is_null()) continue;
        ++with_measures;
        for (const char* quantity : {"flops", "bytes", "floats_moved", "result_bytes"})
          EXPECT_EQ(one.at("predicted").at(quantity), one.at("measured").at(quantity))
              << quantity << " of " << one.at("operator");
        if (one.at("measured").at("floats_moved") == 0.0 && one.at("measured").at("tasks") > 0)
          EXPECT_EQ(one.at("predicted").at("tuples"), one.at("measured").at("tuples"));
      }
      EXPECT_GE(with_measures, 1);
    }
}

TEST(Explain, OperatorsThatLookAtRowsTellHowManyTheyAre) {
  Session session = with_matrices();
  const json told = analysed(session, "",
                             "SELECT k0, SUM(sum_elements(tile)) AS s FROM A GROUP BY k0 "
                             "ORDER BY s LIMIT 2")
                        .at("analyze");
  ASSERT_EQ(told.at("rows").size(), 2) << told.dump(2);
  const json &sort = told.at("rows")[0], &limit = told.at("rows")[1];
  EXPECT_EQ(sort.at("operator"), "Sort by s");
  EXPECT_EQ(sort.at("rows_in"), json::array({3}));
  EXPECT_EQ(sort.at("rows_out"), 3);
  EXPECT_EQ(limit.at("operator"), "Limit 2");
  EXPECT_EQ(limit.at("rows_in"), json::array({3}));
  EXPECT_EQ(limit.at("rows_out"), 2);
  // What they look at is a plan, and is told as one.
  ASSERT_EQ(told.at("runs").size(), 1);
  EXPECT_EQ(told.at("runs")[0].at("for"), "Sort by s");
  EXPECT_EQ(told.at("predicted").at("flops"), told.at("measured").at("flops"));
}

TEST(Explain, NothingThatWasAnalysedStays) {
  Session session = with_matrices();
  const std::vector<std::string> before = contents(session.database());
  (void)analysed(session, "", "CREATE TENSOR C AS A @ B");
  (void)analysed(session, "", "CREATE TABLE t AS SELECT k0, SUM(tile) AS tile FROM A GROUP BY k0");
  (void)analysed(session, "", "CREATE TABLE u AS SELECT DISTINCT k0 FROM A ORDER BY k0");
  (void)analysed(session, "", "CREATE TABLE v AS SELECT tile FROM A WHERE k0 = 99");  // no rows
  (void)analysed(session, "", "EXECUTE (FOR i IN 0...1: SELECT tile FROM A WHERE k0 = i)");
  EXPECT_EQ(contents(session.database()), before);
}

TEST(Explain, TellsHowLoopsRun) {
  Session session = with_matrices();
  const json told = json::parse(text_of(
      session,
      "EXPLAIN (FORMAT JSON) CREATE TENSOR c AS { c[0] := 1; for i = 1, 2 do c[i] := c[i - 1] }"));
  ASSERT_EQ(told.at("steps").size(), 3);
  EXPECT_EQ(told.at("steps")[0].at("runs"), nullptr);
  EXPECT_EQ(told.at("steps")[1].at("step"), "for i = 1, 2 do");
  EXPECT_EQ(told.at("steps")[1].at("runs"),
            "in sequence: an iteration reads what an earlier one assigns: c[i - 1] at i = 2 and "
            "c[i] at i = 1");
  EXPECT_EQ(told.at("steps")[2].at("step"), "  c[i] := c[i - 1]");
  EXPECT_TRUE(told.at("plans").empty());
}

TEST(Explain, FramesAddUpAndLeaveNothing) {
  Session session = with_pascal();
  const std::vector<std::string> before = contents(session.database());
  for (const std::string statement :
       {"SELECT * FROM p[20][10]", "CREATE TABLE t AS SELECT * FROM p[20][10]",
        "EXECUTE (FOR j IN 9...10: SELECT * FROM p[20][j])", "EXECUTE (MATERIALIZE p[20][10])"}) {
    const json all = analysed(session, "", statement);
    const json& told = all.at("analyze");
    const std::size_t frames = all.at("framing").at("frames").size();
    SCOPED_TRACE(statement + told.dump(2));
    EXPECT_GT(frames, 3);
    EXPECT_EQ(told.at("frames_resumed"), 0);
    double predicted = 0, measured = 0;
    for (const json& frame : told.at("frames")) {
      predicted += frame.at("predicted").at("flops").get<double>();
      measured += frame.at("measured").at("flops").get<double>();
    }
    // What is asked for is read after the last frame.
    EXPECT_EQ(told.at("frames").size(), frames + 1);
    EXPECT_EQ(predicted, told.at("predicted").at("flops"));
    EXPECT_EQ(measured, told.at("measured").at("flops"));
    EXPECT_EQ(predicted, measured);
    EXPECT_GT(measured, 0);
    EXPECT_EQ(contents(session.database()), before);
  }
}

TEST(Explain, FramesThatWereDoneBeforeAreNotRunAgain) {
  Session session = with_pascal();
  const std::vector<std::string> before = contents(session.database());
  std::stop_source stop;
  int runs = 0;
  session.run_options().stop = stop.get_token();
  session.run_options().ended = [&](const RunRecord&) {
    if (++runs == 3) stop.request_stop();
  };
  EXPECT_THROW(session.execute("SELECT * FROM p[20][10]"), StatementError);
  session.run_options().stop = {};
  session.run_options().ended = {};
  EXPECT_NE(contents(session.database()), before);
  const json all = analysed(session, "", "SELECT * FROM p[20][10]");
  const json& told = all.at("analyze");
  EXPECT_EQ(told.at("frames_resumed"), 2) << told.dump(2);
  EXPECT_EQ(told.at("frames")[0].at("frame"), 2);
  EXPECT_EQ(contents(session.database()), before);
}

TEST(Explain, SettingsAreAsBeforeAfterwards) {
  Session session = with_matrices();
  (void)analysed(session, ", SITES 4", "CREATE TENSOR C AS A @ B");
  EXPECT_EQ(session.run_options().sites, 1);
  EXPECT_FALSE(session.run_options().ended);
  session.execute("CREATE TENSOR V [4][2] TILE [2][2] VIRTUAL");
  EXPECT_THROW(session.execute("EXPLAIN ANALYZE (SITES 3) SELECT SUM(tile) FROM V"),
               StatementError);
  EXPECT_EQ(session.run_options().sites, 1);
}

/// The names of the passes that a statement and its plans were taken through.
std::vector<std::string> passes_of(Session& session, const std::string& statement,
                                   const std::string& options = "") {
  const json told =
      json::parse(text_of(session, "EXPLAIN (FORMAT JSON" + options + ") " + statement));
  std::vector<std::string> names;
  for (const auto& pass : told.at("passes")) names.push_back(pass.at("pass"));
  for (const auto& pass : told.at("plans").at(0).at("passes")) names.push_back(pass.at("pass"));
  return names;
}

TEST(Explain, AStatementIsTakenThroughThePassesOfThePipeline) {
  Session session(Database::temporary());
  session.execute(
      "CREATE TABLE t (k BIGINT, m MATRIX[2][2]); INSERT INTO t VALUES (0, [[1, 2], [3, 4]])");
  const std::string product =
      "SELECT a.k, SUM(matmul(a.m, b.m)) FROM t AS a, t AS b WHERE a.k = b.k GROUP BY a.k";
  std::vector<std::string> all;
  for (const PassInfo& pass : session::pipeline()) {
    all.push_back(pass.name);
    EXPECT_FALSE(pass.what.empty()) << pass.name;
  }
  EXPECT_EQ(passes_of(session, product), all);
  EXPECT_EQ(passes_of(session, product, ", ANALYZE"), all);

  session.execute("SET disabled_optimizers = 'fuse, simplify'");
  std::erase(all, "fuse");
  std::erase(all, "simplify");
  EXPECT_EQ(passes_of(session, product), all);
  session.execute("RESET disabled_optimizers");
  EXPECT_EQ(passes_of(session, product).size(), all.size() + 2);
}

/// What is printed with VERBOSE: of the statement, and of its plan.
TEST(Explain, VerboseTellsPassesAndRulesWithAndWithoutAnalyze) {
  Session session = with_matrices();
  const std::string statement = "CREATE TENSOR C AS relu(A @ B)";
  for (const char* before : {"EXPLAIN VERBOSE ", "EXPLAIN ANALYZE VERBOSE ", "EXPLAIN (VERBOSE) ",
                             "EXPLAIN ANALYZE (VERBOSE) ", "EXPLAIN (ANALYZE, VERBOSE 1) "}) {
    const std::string text = text_of(session, before + statement);
    EXPECT_NE(text.find("passes: lower "), std::string::npos) << before << text;
    EXPECT_NE(text.find("passes: translate "), std::string::npos) << before << text;
    EXPECT_NE(text.find("map_before_aggregation  not applied x1: "), std::string::npos) << text;
  }
  for (const char* before : {"EXPLAIN ", "EXPLAIN ANALYZE ", "EXPLAIN (ANALYZE, VERBOSE 0) "})
    EXPECT_EQ(text_of(session, before + statement).find("passes: "), std::string::npos) << before;
}

TEST(Explain, ARuleOrPassThatDoesNotApplySaysWhy) {
  Session session = with_matrices();
  const auto told = [&](const std::string& query) {
    return text_of(session, "EXPLAIN VERBOSE EXECUTE (" + query + ")");
  };
  const auto expect = [&](const std::string& query, const std::string& why) {
    EXPECT_NE(told(query).find(why), std::string::npos) << why << "\n" << told(query);
  };
  expect("SELECT SUM(tile) FROM A", "the aggregation reads the result of Input, not of a join");
  const std::string products =
      "SELECT A.k0 AS i, A.k1 AS k, B.k1 AS j, matmul(A.tile, B.tile) AS x FROM A, B "
      "WHERE A.k1 = B.k0";
  expect(products + "; SELECT i, j, SUM(x) FROM (" + products + ") AS p GROUP BY i, j",
         "another operator reads the products of the join");
  expect("SELECT j, i, k, x FROM (" + products + ") AS p WHERE j + i < 99 AND i = 0",
         "not applied x1: ");
}

/// To plan alternatives takes many times as long as to plan.
TEST(Explain, AlternativesArePlannedForTheFramesThatAreShown) {
  Session session(Database::temporary());
  session.execute(
      "CREATE TENSOR A TILE [2][2] AS tile([[0.5, 0.25]], repeats = [8, 4]);"
      "CREATE TABLE product[0] (r, c, x) AS SELECT k0, k1, tile FROM A;"
      "CREATE TABLE product[i:1...] (r, c, x) AS SELECT p.r, a.k1, SUM(matmul(p.x, a.tile)) "
      "FROM product[i-1] AS p, A AS a WHERE p.c = a.k0 GROUP BY p.r, a.k1; SET frame_size = 8");
  const std::string statement = "SELECT * FROM product[30]";
  const json told =
      json::parse(text_of(session, "EXPLAIN (VERBOSE, SITES 4, FORMAT JSON) " + statement));
  const auto frames = told.at("framing").at("frames").size();
  ASSERT_GE(frames, 6);
  std::set<std::size_t> shown;
  for (const json& plan : told.at("plans"))
    if (!plan.at("alternatives").empty()) shown.insert(plan.at("frame").get<std::size_t>());
  EXPECT_EQ(shown, (std::set<std::size_t>{0, 1, 2, frames - 1}));
  const std::string text = text_of(session, "EXPLAIN (VERBOSE, SITES 4) " + statement);
  EXPECT_NE(text.find("\nframe 2, plan for"), std::string::npos) << text;
  EXPECT_EQ(text.find("\nframe 3, plan for"), std::string::npos) << text;
  // What was done for all frames is added up.
  const std::string ran = text_of(session, "EXPLAIN ANALYZE VERBOSE " + statement);
  EXPECT_NE(ran.find("\naggregate_before_rekey  not applied x30: "), std::string::npos) << ran;
  EXPECT_NE(ran.find("\npasses: translate "), std::string::npos) << ran;
}

}  // namespace
}  // namespace tessera
