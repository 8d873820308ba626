// Who runs is said by options that are passed: every statement goes through the engine that they
// name.

#include <gtest/gtest.h>

#include <atomic>

#include "exec/local_engine.h"
#include "support/database_folder.h"
#include "support/expectations.h"
#include "tessera/session.h"

namespace tessera {
namespace {

/// Counts the graphs that it runs in this process.
class CountingEngine final : public exec::Engine {
 public:
  explicit CountingEngine(int most_sites = 1) : most_sites_(most_sites) {}
  int sites(const RunOptions& options) const override {
    return std::max(most_sites_, options.sites);
  }
  std::vector<std::vector<Tuple>> run(exec::Prepared run, const TupleSink& sink,
                                      std::vector<RunObserver*> observers) override {
    ++graphs_;
    return local_.run(std::move(run), sink, std::move(observers));
  }
  /// Since this was asked last.
  int graphs() { return graphs_.exchange(0); }

 private:
  const int most_sites_;
  std::atomic<int> graphs_ = 0;
  exec::LocalEngine local_;
};

Plan numbers() {
  return Plan::input(Relation::from_tensor(Tile::full(DType::f64, {4, 4}, 2), {2, 2}), "N");
}

class EngineChoice : public DatabaseFolder {
 protected:
  RunOptions chosen() const {
    RunOptions options;
    options.engine = engine;
    return options;
  }
  std::shared_ptr<CountingEngine> engine = std::make_shared<CountingEngine>();
};

TEST_F(EngineChoice, EveryStatementOfASessionGoesThroughIt) {
  std::filesystem::create_directory(folder_);
  Session session(Database::open(folder_ / "db"), {.run = chosen()});
  const std::string rows = (folder_ / "rows.csv").string(), file = (folder_ / "X.npy").string();
  // How many graphs a statement comes to, or that it is some number of them.
  constexpr int some = -1;
  const std::vector<std::pair<std::string, int>> statements{
      {"CREATE TENSOR X TILE [2][2] AS [[1, 2, 3], [4, 5, 6], [7, 8, 9]]", 1},
      {"CREATE TENSOR Y AS X @ X", 1},
      {"EXPLAIN CREATE TENSOR Z AS X @ X", 0},
      {"EXPLAIN ANALYZE CREATE TENSOR Z AS X @ X", 1},
      {"CREATE TABLE t (x INT, m MATRIX[2][2])", 0},
      {"INSERT INTO t VALUES (1, [[1, 2], [3, 4]]), (2, [[1, 2], [3, 4]])", 1},
      {"SELECT SUM(matmul(a.m, b.m)) FROM t AS a, t AS b", 1},
      {"EXPLAIN SELECT SUM(matmul(a.m, b.m)) FROM t AS a, t AS b", 0},
      {"EXPLAIN (FORMAT JSON) SELECT SUM(matmul(a.m, b.m)) FROM t AS a, t AS b", 0},
      {"EXPLAIN ANALYZE SELECT SUM(matmul(a.m, b.m)) FROM t AS a, t AS b", 1},
      {"CREATE TABLE s AS SELECT SUM(m) AS m FROM t", 1},
      {"EXPLAIN ANALYZE CREATE TABLE r AS SELECT SUM(m) AS m FROM t", 1},
      {"CREATE TABLE v[0] AS SELECT x, m FROM t", 0},
      {"CREATE TABLE v[i:1...] AS SELECT x, m + m AS m FROM v[i-1]", 0},
      {"MATERIALIZE v[2]", 1},
      {"EXPLAIN ANALYZE MATERIALIZE v[3]", 1},
      {"EXECUTE (SELECT SUM(m) FROM v[1]; MATERIALIZE v[4])", 2},
      {"COPY (SELECT x, m @ m FROM t) TO '" + rows + "' (HEADER FALSE)", 1},
      {"COPY t FROM '" + rows + "' (HEADER FALSE)", 1},  // all rows are laid out anew
      {"COPY X TO '" + file + "'", 0},
      {"CREATE TENSOR W FROM '" + file + "'", 0},
      {"SHOW TABLES", 0},
      {"ALTER TENSOR W RENAME TO U", 0},
      {"DROP TENSOR U", 0},
      {"CHECKPOINT", 0},
      {"VACUUM", 0},
      {"SET frame_size = 2", 0},
      {"SELECT SUM(m) FROM v[20]", some},  // a job
      {"EXPLAIN ANALYZE SELECT SUM(m) FROM v[20]", some},
      {"SHOW JOBS", 0},
  };
  for (const auto& [text, graphs] : statements) {
    ASSERT_EQ(message_of([&] { session.execute(text); }), "nothing was thrown") << text;
    const int counted = engine->graphs();
    if (graphs == some)
      EXPECT_GT(counted, 1) << text;
    else
      EXPECT_EQ(counted, graphs) << text;
  }
}

TEST_F(EngineChoice, ThatOfADatabaseIsForWhatNamesNone) {
  Database database = open({.engine = engine});
  EXPECT_EQ(database.engine(), engine);
  database.store("N", numbers());
  EXPECT_EQ(engine->graphs(), 1);
  Session session(database);
  session.execute("CREATE TENSOR M AS N @ N");
  EXPECT_EQ(engine->graphs(), 1);

  const auto other = std::make_shared<CountingEngine>();
  RunOptions by_other;
  by_other.engine = other;
  database.store("O", numbers(), by_other);
  Session(database, {.run = by_other}).execute("CREATE TENSOR P AS N @ N");
  database.with_engine(other).store("Q", numbers());
  EXPECT_EQ(other->graphs(), 3);
  EXPECT_EQ(engine->graphs(), 0);

  session.run_options().engine = other;
  session.execute("CREATE TENSOR R AS N @ N");
  EXPECT_EQ(session.database().engine(), other);
  EXPECT_EQ(other->graphs(), 1);
  const Database temporary = Database::temporary({}, engine);
  EXPECT_EQ(temporary.engine(), engine);
}

TEST_F(EngineChoice, RunsForecastsAndPlansAreOfItsSites) {
  engine = std::make_shared<CountingEngine>(4);
  const Plan product = numbers().join(numbers(), {1}, {0}, "matmul").aggregate({0, 2}, "add");
  const RunOptions options = chosen();
  EXPECT_TRUE(relations_equal(run(product, options), product.interpret()));
  EXPECT_EQ(engine->graphs(), 1);
  EXPECT_EQ(planning_options(options).sites, 4);
  EXPECT_EQ(plan_run({product}, options).plans().front().sites(), 4);
  EXPECT_GT(forecast(product, options).peak, 0);
  EXPECT_EQ(engine->graphs(), 0);

  Session session(open(), {.run = options});
  const auto value_of = [&](const std::string& name) {
    const ResultTable settings = session.query("SHOW SETTINGS");
    for (std::int64_t row = 0; row < settings.rows(); ++row)
      if (settings.text(row, 0) == name) return settings.text(row, 1);
    return std::string("no such setting");
  };
  EXPECT_EQ(value_of("sites"), "4");
  session.execute("CREATE TENSOR X TILE [1][1] AS [[1, 2, 3], [4, 5, 6], [7, 8, 9]]");
  EXPECT_NE(session.query("EXPLAIN (FORMAT JSON) CREATE TENSOR Y AS X @ X").rows(), 0);
  std::string plan;
  const ResultTable lines = session.query("EXPLAIN CREATE TENSOR Y AS X @ X");
  for (std::int64_t row = 0; row < lines.rows(); ++row) plan += lines.text(row, 0) + "\n";
  EXPECT_NE(plan.find("on 4"), std::string::npos) << plan;
}

TEST_F(EngineChoice, WhoIsAloneSaysSo) {
  const ClusterInfo info = cluster_info(chosen());
  EXPECT_EQ(info.size, 1);
  EXPECT_EQ(info.rank, 0);
  RunOptions alone;
  alone.engine = local_engine();
  EXPECT_EQ(cluster_info(alone).size, 1);
}

}  // namespace
}  // namespace tessera
