#include <fstream>
#include <thread>

#include "optimizer/frames/cut.h"
#include "query/rows/node.h"
#include "support/database_folder.h"
#include "tessera/session.h"

// A stop is heard wherever a statement may take long, and nothing of the statement stays.

namespace tessera {
namespace {

using namespace std::chrono_literals;

/// Statements whose stop is asked for by another thread, soon after they begin.
class StatementStop : public DatabaseFolder {
 protected:
  StatementStop() : session(open()) {}

  /// Tries again, with the statement longer under way, until it was stopped in the midst of
  /// `where`.
  std::string stopped(const std::string& text, std::string_view where) {
    std::string message;
    for (auto after = 1ms; after < 60s; after = 2 * after) {
      std::stop_source source;
      session.run_options().stop = source.get_token();
      std::jthread asker([&](const std::stop_token& done) {
        const auto until = std::chrono::steady_clock::now() + after;
        while (!done.stop_requested() && std::chrono::steady_clock::now() < until)
          std::this_thread::sleep_for(100us);
        source.request_stop();
      });
      message = message_of([&] { session.execute(text); });
      asker.request_stop();
      asker.join();
      session.run_options().stop = {};
      if (message.find(where) != std::string::npos) break;
    }
    return message;
  }

  void fill(const std::string& table, int rows) {
    session.execute("CREATE TABLE " + table + " (x INT, s TEXT)");
    std::string text = "INSERT INTO " + table + " VALUES ";
    for (int row = 0; row < rows; ++row)
      text += fmt::format("{}({}, 'text {}')", row == 0 ? "" : ", ", row, row % 100);
    session.execute(text);
  }

  Session session;
};

TEST_F(StatementStop, IsHeardWhileRowsAreJoined) {
  fill("t", 1500);
  EXPECT_EQ(stopped("SELECT a.x FROM t AS a, t AS b WHERE a.x < b.x", "processing rows"),
            "Interrupted: stopped while processing rows");
  // The session goes on.
  EXPECT_EQ(session.query("SELECT COUNT(*) FROM t").text(0, 0), "1500");
}

TEST(RowOperatorStop, IsHeardByEach) {
  const sql::Type bigint{sql::Type::Kind::bigint};
  const query::Schema schema{{"x", bigint}};
  const query::Rows rows{schema,
                         {{query::Cell::of(std::int64_t{1})}, {query::Cell::of(std::int64_t{2})}}};
  const query::NodePtr scan = query::make_node(query::Scan{0}, schema);
  const query::ExpressionPtr x = query::column_of(0, bigint);
  const auto yes =
      query::make(query::Constant{query::Cell::of(true)}, {sql::Type::Kind::boolean}, {});
  std::stop_source source;
  source.request_stop();
  const auto stopped = [&](const query::Operator& op) {
    const query::NodePtr node = query::make_node(op, schema);
    const std::vector<const query::Rows*> inputs(query::inputs_of(*node).size(), &rows);
    EXPECT_NO_THROW((void)query::evaluate(*node, inputs, {}));
    return message_of([&] { (void)query::evaluate(*node, inputs, {}, {source.get_token(), 0}); });
  };
  const std::string heard = "Interrupted: stopped while processing rows";
  EXPECT_EQ(stopped(query::Filter{scan, yes}), heard);
  EXPECT_EQ(stopped(query::Join{scan, scan, nullptr, {x}}), heard);
  EXPECT_EQ(stopped(query::Project{scan, {x}}), heard);
  EXPECT_EQ(stopped(query::Aggregate{scan, {x}, {}}), heard);
  EXPECT_EQ(stopped(query::UnionAll{{scan, scan}}), heard);
  EXPECT_EQ(stopped(query::Distinct{scan}), heard);
  EXPECT_EQ(stopped(query::Sort{scan, {{x}}}), heard);
}

TEST_F(StatementStop, IsHeardWhileVersionsAreUnrolled) {
  session.execute(
      "CREATE TABLE x[0] AS SELECT 1.0 AS v;"
      "CREATE TABLE x[i:1...] AS SELECT v + 1 AS v FROM x[i-1]");
  EXPECT_EQ(stopped("SELECT v FROM x[20000]", "unrolling"),
            "Interrupted: stopped while unrolling versions");
}

TEST_F(StatementStop, IsHeardWhileAPlanIsCut) {
  std::vector<frames::Edge> edges;
  constexpr std::int32_t operators = 20'000;
  for (std::int32_t op = 1; op < operators; ++op) {
    edges.push_back({op - 1, op, 0.5F});
    if (op > 40) edges.push_back({op - 40, op, 0.3F});
  }
  const frames::OperatorGraph graph(operators, edges);
  std::stop_source source;
  std::jthread asker([&] {
    std::this_thread::sleep_for(20ms);
    source.request_stop();
  });
  EXPECT_EQ(message_of([&] {
              (void)frames::cut(graph, {100, 400}, source.get_token());
            }),
            "Interrupted: stopped while cutting the plan into frames");
}

TEST_F(StatementStop, BetweenFramesKeepsThoseThatAreDone) {
  session.execute(
      "CREATE TABLE x[0] AS SELECT 1.0 AS v;"
      "CREATE TABLE x[i:1...] AS SELECT v + 1 AS v FROM x[i-1]; SET frame_size = 4");
  std::stop_source source;
  RunOptions& options = session.run_options();
  options.stop = source.get_token();
  options.progress = [&](const Progress& progress) {
    if (progress.frame == 3) source.request_stop();
  };
  EXPECT_TRUE(
      message_of([&] { session.execute("SELECT v FROM x[50]"); }).starts_with("Interrupted"));
  options.stop = {};
  int first = 0, frames = 0;
  options.progress = [&](const Progress& progress) {
    if (first == 0) first = progress.frame;
    frames = progress.frames;
  };
  const ResultTable jobs = session.query("SHOW JOBS");
  ASSERT_EQ(jobs.rows(), 1);
  EXPECT_EQ(session.query("SELECT v FROM x[50]").text(0, 0), "51");
  EXPECT_EQ(first, 3);
  EXPECT_EQ(jobs.text(0, 2), fmt::format("2 of {}", frames));
  EXPECT_EQ(session.query("SHOW JOBS").rows(), 0);
}

TEST_F(StatementStop, IsHeardByCopyAndByTensorsFromFiles) {
  const std::filesystem::path file = folder_.string() + ".csv";
  {
    std::ofstream out(file);
    for (int row = 0; row < 40'000; ++row) out << row << ",text " << row % 7 << "\n";
  }
  session.run_options().memory_limit = std::int64_t{1} << 30;
  session.execute("CREATE TABLE t (x INT, s TEXT)");
  const std::string copy = fmt::format("COPY t FROM '{}'", file.string());
  EXPECT_TRUE(stopped(copy, "stopped after").starts_with("Interrupted: stopped after "));
  EXPECT_EQ(session.query("SELECT COUNT(*) FROM t").text(0, 0), "0");

  // What is told of it, and a stop by whoever is told.
  RunOptions& options = session.run_options();
  options.progress_seconds = 0;
  std::vector<double> parts;
  options.progress = [&](const Progress& progress) {
    parts.push_back(static_cast<double>(progress.tasks_done) / static_cast<double>(progress.tasks));
  };
  session.execute(copy);
  EXPECT_GT(parts.size(), 50);
  EXPECT_TRUE(std::is_sorted(parts.begin(), parts.begin() + 50));
  const std::filesystem::path target = folder_.string() + ".out.csv";
  std::stop_source source;
  options.stop = source.get_token();
  options.progress = [&](const Progress& progress) {
    if (progress.tasks_done > progress.tasks / 2) source.request_stop();
  };
  const std::string written = fmt::format("COPY t TO '{}'", target.string());
  EXPECT_TRUE(
      message_of([&] { session.execute(written); }).starts_with("Interrupted: stopped after "));
  EXPECT_FALSE(std::filesystem::exists(target));

  source = std::stop_source();
  options.stop = source.get_token();
  const std::string tensor =
      fmt::format("CREATE TENSOR n FROM '{}' WITH (format = csv)", target.string());
  {
    std::ofstream out(target);
    for (int row = 0; row < 100'000; ++row) out << row << "," << row % 7 << "\n";
  }
  EXPECT_TRUE(
      message_of([&] { session.execute(tensor); }).starts_with("Interrupted: stopped after "));
  options.stop = {};
  options.progress = {};
  EXPECT_EQ(session.query("SHOW TENSORS").rows(), 0);
  std::filesystem::remove(file);
  std::filesystem::remove(target);
}

}  // namespace
}  // namespace tessera
