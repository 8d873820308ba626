#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "support/printed_sql.h"
#include "tessera/session.h"

// Jankov et al., "Declarative Recursive Computation on an RDBMS" (2019): the SQL of section 3.1.

namespace tessera::testing {
namespace {

/// Rows of Pascal's triangle, by adding up; all of them fit in 64 bits up to row 60.
std::vector<std::vector<std::int64_t>> triangle(int rows) {
  std::vector<std::vector<std::int64_t>> all;
  for (int i = 0; i < rows; ++i) {
    all.emplace_back(i + 1, 1);
    for (int j = 1; j < i; ++j) all[i][j] = all[i - 1][j - 1] + all[i - 1][j];
  }
  return all;
}

Session with_triangle() {
  Session session(Database::temporary());
  for (const char* rule : {printed::triangle_top, printed::triangle_diagonal,
                           printed::triangle_first_column, printed::triangle_inside})
    session.execute(rule);
  return session;
}

std::int64_t only_value(const ResultTable& table) {
  EXPECT_EQ(table.rows(), 1);
  EXPECT_EQ(table.columns().size(), 1U);
  return std::get<std::int64_t>(table.at(0, 0));
}

/// How many frames a statement runs in.
std::size_t frames_of(Session& session, const std::string& statement) {
  const ResultTable lines = session.query("EXPLAIN (FORMAT JSON) " + statement);
  std::string text;
  for (std::int64_t i = 0; i < lines.rows(); ++i) text += lines.text(i, 0) + "\n";
  return nlohmann::json::parse(text).at("framing").at("frames").size();
}

void expect_row_50(Session& session) {
  const auto expected = triangle(51);
  const std::vector<StatementResult> results = session.execute(printed::triangle_row);
  ASSERT_EQ(results.size(), 52U);
  for (int j = 0; j <= 50; ++j)
    EXPECT_EQ(only_value(*results[j].table), expected[50][j]) << "column " << j;
  EXPECT_EQ(results[51].message, "ran 51 queries");
}

TEST(Versions, ARowOfTheTriangleIsOnePlan) {
  Session session = with_triangle();
  session.execute("SET frame_size = 100000");
  EXPECT_EQ(frames_of(session, printed::triangle_row), 1U);
  expect_row_50(session);
}

TEST(Versions, ARowOfTheTriangleIsTheSameInFrames) {
  Session session = with_triangle();
  session.execute("SET frame_size = 300");
  EXPECT_GT(frames_of(session, printed::triangle_row), 1U);
  expect_row_50(session);
}

TEST(Versions, OneEntryOfTheTriangle) {
  Session session = with_triangle();
  EXPECT_EQ(only_value(session.query(printed::triangle_one)), triangle(57)[56][23]);
}

TEST(Versions, WhatIsMaterializedIsReadLater) {
  Session session = with_triangle();
  EXPECT_EQ(session.execute(printed::triangle_row_kept).back().message, "materialized 51 tables");
  // Rows below it now begin there.
  const ResultTable plan = session.query("EXPLAIN SELECT * FROM pascalsTri[51][7]");
  std::string text;
  for (std::int64_t i = 0; i < plan.rows(); ++i) text += plan.text(i, 0) + "\n";
  EXPECT_EQ(text.find("more versions"), std::string::npos) << text;
  EXPECT_EQ(only_value(session.query("SELECT * FROM pascalsTri[51][7]")), triangle(52)[51][7]);
  expect_row_50(session);
}

TEST(Versions, AUnionOverTwoIndicesHasEveryEntry) {
  Session session = with_triangle();
  const ResultTable found = session.query(printed::triangle_union);
  std::vector<std::int64_t> values, expected;
  for (std::int64_t r = 0; r < found.rows(); ++r)
    values.push_back(std::get<std::int64_t>(found.at(r, 0)));
  for (const auto& row : triangle(51)) expected.insert(expected.end(), row.begin(), row.end());
  std::sort(values.begin(), values.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(values, expected);
}

TEST(Versions, FibonacciAddsTheUnionOfTheTwoBefore) {
  Session session(Database::temporary());
  session.execute(printed::fibonacci_first);
  session.execute(printed::fibonacci_others);
  const std::vector<StatementResult> results =
      session.execute("EXECUTE (FOR i IN 0...90: SELECT * FROM Fibonacci[i])");
  std::uint64_t one = 1, next = 1;  // the one after the last needs all bits
  for (int i = 0; i <= 90; ++i) {
    EXPECT_EQ(static_cast<std::uint64_t>(only_value(*results[i].table)), one) << "number " << i;
    next += std::exchange(one, next);
  }
  EXPECT_EQ(session.query("SELECT * FROM UNION Fibonacci[3...4]").rows(), 2);
}

}  // namespace
}  // namespace tessera::testing
