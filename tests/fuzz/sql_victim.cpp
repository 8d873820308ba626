#include "fuzz/sql_victim.h"

#include <fmt/format.h>

#include <map>
#include <random>

#include "base/characters.h"
#include "lang/sql/parser.h"
#include "sql/test_file.h"
#include "support/random_queries.h"

namespace tessera::sql {
namespace {

namespace fs = std::filesystem;

/// What the statements of sql_seeds.h are about, and the versioned tables of Jankov et al., 2019.
constexpr const char* always_there = R"(
CREATE TABLE A (tileRow INT, tileCol INT, mat MATRIX[2][2]);
INSERT INTO A VALUES (0, 0, [[1, 2], [3, 4]]), (0, 1, [[5, 6], [7, 8]]), (1, 1, [[0, 1], [1, 0]]);
CREATE TABLE B AS SELECT tileCol AS tileRow, tileRow AS tileCol, t(mat) AS mat FROM A;
CREATE TABLE t (a INT, b DOUBLE, c BIGINT, x INT);
INSERT INTO t VALUES (1, 2.5, 3, 4), (2, -1, 0, 4), (2, 0, 9000000000, 1);
CREATE TABLE u (a INT PRIMARY KEY, b DOUBLE, x INT);
INSERT INTO u VALUES (1, 2, 3), (7, 0.5, 1);
CREATE VIEW v AS SELECT a, SUM(b) AS total FROM t GROUP BY a;
CREATE TENSOR X AS [[1.5, 2, 3], [4, 5, 6]];
CREATE TENSOR C AS X.T @ X TILE [2][2];
CREATE TENSOR P [40000][40000] OF FLOAT TILE [4000][4000] PARTITION BY (0) VIRTUAL;
CREATE TABLE pascalsTri[0][0] (val) AS SELECT val FROM VALUES (1);
CREATE TABLE pascalsTri[i:1...][i] (val) AS SELECT * FROM pascalsTri[i-1][i-1];
CREATE TABLE pascalsTri[i:1...][0] (val) AS SELECT * FROM pascalsTri[i-1][0];
CREATE TABLE pascalsTri[i:2...][j:1...i-1] (val) AS SELECT pt1.val + pt2.val AS val
  FROM pascalsTri[i-1][j-1] AS pt1, pascalsTri[i-1][j] AS pt2;
CREATE TABLE Fibonacci[i:0...1] (val) AS SELECT * FROM VALUES (1);
CREATE TABLE Fibonacci[i:2...] (val) AS SELECT SUM (VAL) FROM UNION Fibonacci[i-2...i-1];
CREATE TABLE power[0] (k, val) AS SELECT tileCol, SUM(mat) FROM A GROUP BY tileCol;
CREATE TABLE power[i:1...] (k, val) AS SELECT p.k, matmul(p.val, q.mat) FROM power[i-1] AS p, B AS q
  WHERE p.k = q.tileRow AND q.tileCol = 0;
)";

const std::vector<std::string> about_these = {
    "SELECT * FROM power[5]",
    "SELECT SUM(val) FROM UNION Fibonacci[i:0...12]",
    "MATERIALIZE Fibonacci[20]",
    "EXECUTE (FOR i IN 1...9: MATERIALIZE power[i])",
    "EXPLAIN SELECT * FROM pascalsTri[30][15]",
    "SET frame_size = 10; SELECT * FROM pascalsTri[9][4]",
    "SET sites = 3; SELECT tileRow, SUM(mat) FROM A GROUP BY tileRow",
    "SELECT v.total, (SELECT MAX(b) FROM u) FROM v, t WHERE v.a = t.a ORDER BY total DESC LIMIT 3",
    "CREATE TENSOR D AS softmax(X @ C, axis = 1) + 1 TILE [1][2]",
    "CREATE TENSOR I AS einsum('ij,jk->ik', X, C)",
    "COPY X TO 'x.npy'; CREATE TENSOR Y FROM 'x.npy' TILE [1][1]",
    "COPY t TO 't.csv' WITH (header = true); COPY t FROM 't.csv' WITH (header = true)",
    "ALTER TABLE t RENAME TO tt; DROP TABLE tt",
    "CREATE TABLE big AS SELECT p.a FROM t AS p, t AS q, t AS r, A",
    "INSERT INTO t SELECT * FROM t",
    "INSERT INTO u (b, a, x) VALUES (1, 8, 2), (1, 9, 3)",
};

std::string with_files_here(std::string text) {
  const std::string_view folder = "$FOLDER/";
  for (std::size_t at = text.find(folder); at != std::string::npos; at = text.find(folder, at))
    text.erase(at, folder.size());
  return text;
}

bool is_here(const std::string& file) {
  return !file.starts_with('/') && file.find("..") == std::string::npos &&
         file.find(':') == std::string::npos && file.find('=') == std::string::npos;
}

bool is_server(const Options& options) {
  for (const auto& [name, value] : options) {
    if (name != "format") continue;
    const auto* word = std::get_if<Name>(&value->node);
    const auto* literal = std::get_if<Literal>(&value->node);
    const auto* text = literal == nullptr ? nullptr : std::get_if<std::string>(&literal->value);
    const std::string format = word != nullptr ? word->column : text != nullptr ? *text : "p";
    if (format.starts_with('p') || format.starts_with('P')) return true;  // postgresql
  }
  return false;
}

bool stays_here(const Statement& statement) {
  if (const auto* explain = std::get_if<Explain>(&statement.node))
    return stays_here(*explain->statement);
  if (const auto* copy = std::get_if<Copy>(&statement.node))
    return is_here(copy->file) && !is_server(copy->options);
  if (const auto* create = std::get_if<CreateTensor>(&statement.node); create && create->file)
    return is_here(*create->file) && !is_server(create->options);
  return true;
}

/// All that a database holds, but for what a statement in frames leaves to go on with, which is not
/// listed.
std::map<std::string, std::string> contents(const Database& database) {
  std::map<std::string, std::string> found;
  for (const StoredInfo& info : database.list())
    found["relation " + info.name] =
        fmt::format("{} of {} tuples", to_string(info.type), info.statistics.tuples);
  for (const auto& [name, text] : database.texts())
    if (name.starts_with("sql/")) found[name] = text;
  return found;
}

std::string difference(const std::map<std::string, std::string>& before,
                       const std::map<std::string, std::string>& after) {
  for (const auto& [name, what] : before)
    if (!after.contains(name))
      return name + " is gone";
    else if (after.at(name) != what)
      return fmt::format("{} was {} and is {}", name, what, after.at(name));
  for (const auto& [name, what] : after)
    if (!before.contains(name)) return name + " is new";
  return {};
}

/// What is wrong with an error, apart from what it is about.
std::string problem_of(const StatementError& error, const std::string& text) {
  const std::string_view message = error.what();
  if (std::string_view(error.kind()) == "InternalError")
    return fmt::format("our own bug: {}", message);
  int line = 1;
  std::size_t begin = 0;
  for (std::size_t end = 0; line < error.line; ++line, begin = end + 1) {
    end = text.find('\n', begin);
    if (end == std::string::npos) break;
  }
  const std::size_t length = std::min(text.find('\n', begin), text.size()) - begin;
  if (error.line != line || error.column < 1 || std::cmp_greater(error.column, length + 1))
    return fmt::format("an error at {}:{}, outside of the text: {}", error.line, error.column,
                       message);
  // A message may quote the text, and list what there is.
  if (message.empty() || message.size() > 5000 + 2 * text.size())
    return fmt::format("an error of {} bytes: {}", message.size(), message.substr(0, 1000));
  for (std::size_t i = 0; i < message.size();) {
    const std::size_t bytes = character_length(message, i);
    if (bytes == 0) return fmt::format("an error that is not valid UTF-8: {}", message);
    i += bytes;
  }
  return {};
}

/// Looks at some of the cells, as whoever shows a result does.
void look_at(const StatementResult& result) {
  if (!result.table) return;
  for (std::int64_t row = 0; row < std::min<std::int64_t>(result.table->rows(), 5); ++row)
    for (int column = 0; std::cmp_less(column, result.table->columns().size()); ++column) {
      (void)result.table->tile_type(row, column);
      (void)result.table->text(row, column);
    }
}

}  // namespace

bool stays_here(const std::string& text) {
  try {
    for (const StatementPtr& statement : parse(text))
      if (!stays_here(*statement)) return false;
  } catch (const lang::ErrorAt&) {  // nothing of it will run
  }
  return true;
}

Victim::Victim(Random& random, const std::vector<std::string>& test_files, Watchdog& watchdog)
    : database_(Database::temporary()), statements_(about_these), watchdog_(watchdog) {
  options_.run.memory_limit = std::int64_t{32} << 20;
  options_.run.threads = 2;
  for (const fs::directory_entry& left : fs::directory_iterator(fs::current_path()))
    fs::remove_all(left.path());
  std::mt19937 chance(static_cast<unsigned>(random.bits()));
  Session session(database_, options_);
  session.execute(always_there);
  session.execute(testing::tables_for_random_queries(chance));
  for (const testing::SqlCase& test : testing::read_cases(random.pick(test_files))) {
    const std::string text = with_files_here(test.text);
    if (!stays_here(text)) continue;
    statements_.push_back(text);
    if (test.kind != testing::SqlCase::Kind::statement) continue;
    try {
      session.execute(text);
    } catch (const StatementError&) {  // some names are taken
    }
  }
}

Victim::Answer Victim::execute(const std::string& text) {
  auto before = contents(database_);
  const Watchdog::Watch watch(watchdog_);
  try {
    Session session(database_, options_);
    session.run_options().stop = watch.stop();
    session.execute(text, [&](const StatementResult& result) {
      look_at(result);
      before = contents(database_);
    });
  } catch (const StatementError& error) {
    std::string problem = problem_of(error, text);
    const std::string changed = difference(before, contents(database_));
    if (problem.empty() && !changed.empty())
      problem = fmt::format("{}, after the error: {}", changed, error.what());
    return {false, problem};
  } catch (const std::exception& error) {
    return {false, fmt::format("not an error with a place: {}", error.what())};
  }
  return {true};
}

}  // namespace tessera::sql
