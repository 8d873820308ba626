#include <gtest/gtest.h>

#include "lang/sql/parser.h"
#include "support/sql_trees.h"

namespace tessera::sql {
namespace {

std::string statement(std::string_view text) {
  const auto all = parse(text);
  EXPECT_EQ(all.size(), 1U) << text;
  return tree(*all.at(0));
}

TEST(SqlStatements, CreateTable) {
  EXPECT_EQ(statement("CREATE TABLE A (r INT, c INT, mat MATRIX[20][20], PRIMARY KEY (r, c))"),
            "(create-table - A [] (columns r:int c:int mat:(tensor f64 [20 20])) [r c] -)");
  EXPECT_EQ(statement("CREATE TABLE IF NOT EXISTS t (a INT PRIMARY KEY)"),
            "(create-table if-not-exists t [] (columns a:int) [a] -)");
  EXPECT_EQ(statement("CREATE OR REPLACE TABLE t (a INT)"),
            "(create-table or-replace t [] (columns a:int) [] -)");
  EXPECT_EQ(statement("CREATE TABLE t AS SELECT 1"),
            "(create-table - t [] (columns) [] (select 1))");
  EXPECT_EQ(statement("CREATE TABLE t[i:2...][j:1...i-1][j:9][0][i] (val, b INT) AS SELECT 1"),
            "(create-table - t [(upwards i 2 -) (range j 1 (- i 1)) (range j 9 -) (range  0 -) "
            "(range  i -)] (columns val b:int) [] (select 1))");
}

TEST(SqlStatements, CreateTensor) {
  EXPECT_EQ(statement("CREATE TENSOR X FROM 'x.csv' WITH (format = csv, header) TILE [10][20]"),
            "(create-tensor - X - - [10 20] - - 'x%2ecsv' [(format csv) (header true)] -)");
  EXPECT_EQ(statement("CREATE TENSOR IF NOT EXISTS C TILE [2][2] AS A @ B"),
            "(create-tensor if-not-exists C - - [2 2] - - - [] (@ A B))");
  EXPECT_EQ(statement("CREATE OR REPLACE TENSOR C AS C @ B"),
            "(create-tensor or-replace C - - - - - - [] (@ C B))");
  EXPECT_EQ(statement("CREATE TENSOR P [40000][40000] OF FLOAT TILE [4000][4000] PARTITION BY (0) "
                      "VIRTUAL"),
            "(create-tensor - P [40000 40000] f32 [4000 4000] [0] virtual - [] -)");
  EXPECT_EQ(statement("CREATE TENSOR C AS einsum('ik,kj->ij', A, B)"),
            "(create-tensor - C - - - - - - [] (call einsum 'ik%2ckj%2d%3eij' A B))");
  EXPECT_EQ(
      statement("CREATE TENSOR L, U TILE [2] AS { var t = 1; for i = 0, n-1, 2 do { L[i,0] := 1; "
                "if i > 2 then t max= 3 else while t < 2 do t *= 2 } let s = t; U := L }"),
      "(create-program - L [U] [2] [(var t [] - 1) (for-loop i 0 (- n 1) 2 [(assign L [i 0]  "
      "1) (branch (> i 2) [(assign t [] max 3)] [(while (< t 2) [(assign t [] %2a 2)])])]) "
      "(define s t) (assign U []  L)])");
}

TEST(SqlStatements, RowsAndFiles) {
  EXPECT_EQ(statement("INSERT INTO t VALUES (1, 'a'), (2, 'b')"),
            "(insert t [] (values [1 'a'] [2 'b']))");
  EXPECT_EQ(statement("INSERT INTO t (a, values) SELECT * FROM u"),
            "(insert t [a values] (select * (from u)))");
  EXPECT_EQ(statement("INSERT INTO t (SELECT 1)"), "(insert t [] (select 1))");
  EXPECT_EQ(statement("COPY t FROM 'f' WITH (HEADER true, sep = ';')"),
            "(copy-from t - f [(header true) (sep '%3b')])");
  EXPECT_EQ(statement("COPY t TO 'f'"), "(copy-to t - f [])");
  EXPECT_EQ(statement("COPY (SELECT 1) TO 'f' (format csv)"),
            "(copy-to  (select 1) f [(format csv)])");
}

TEST(SqlStatements, TheSmallOnes) {
  EXPECT_EQ(statement("CREATE VIEW v (a, b) AS SELECT 1, 2"), "(create-view v [a b] (select 1 2))");
  EXPECT_EQ(statement("DROP TENSOR IF EXISTS t"), "(drop tensor if-exists t)");
  EXPECT_EQ(statement("DROP VIEW if"), "(drop view - if)");
  EXPECT_EQ(statement("ALTER TABLE a RENAME TO b"), "(rename table a b)");
  EXPECT_EQ(statement("DESCRIBE t"), "(describe t)");
  EXPECT_EQ(statement("DESCRIBE TABLE t"), "(describe t)");
  EXPECT_EQ(statement("describe table"), "(describe table)");
  for (const char* what : {"tables", "tensors", "views", "functions", "settings", "history"})
    EXPECT_EQ(statement(std::string("SHOW ") + what), std::string("(show ") + what + ")");
  EXPECT_EQ(statement("SET Threads = 4"), "(set threads 4)");
  EXPECT_EQ(statement("SET memory_limit TO '2 GB'"), "(set memory_limit '2%20GB')");
  EXPECT_EQ(statement("SET optimizer = ON"), "(set optimizer on)");
  EXPECT_EQ(statement("SET threads TO DEFAULT"), "(set threads -)");
  EXPECT_EQ(statement("RESET threads"), "(set threads -)");
  EXPECT_EQ(statement("CHECKPOINT"), "(checkpoint)");
  EXPECT_EQ(statement("vacuum"), "(vacuum)");
  EXPECT_EQ(statement("MATERIALIZE t[50][3]"), "(materialize (version t [50 3]))");
}

TEST(SqlStatements, Execute) {
  EXPECT_EQ(statement("EXECUTE (FOR j IN 0...50: SELECT * FROM t[50][j])"),
            "(execute [(for j 0 50 [(select * (from (version t [50 j])))])])");
  EXPECT_EQ(statement("EXECUTE (SELECT 1; MATERIALIZE t[1];)"),
            "(execute [(select 1) (materialize (version t [1]))])");
  EXPECT_EQ(statement("EXECUTE (FOR i IN 0...n-1: FOR j IN 0...i: (SELECT 1; SELECT 2); SELECT 3)"),
            "(execute [(for i 0 (- n 1) [(for j 0 i [(select 1) (select 2)])]) (select 3)])");
  EXPECT_EQ(statement("EXECUTE ((SELECT 1) UNION SELECT 2)"),
            "(execute [(union (select 1) (select 2))])");
}

TEST(SqlStatements, Explain) {
  EXPECT_EQ(statement("EXPLAIN SELECT 1"), "(explain [] (select 1))");
  EXPECT_EQ(statement("EXPLAIN ANALYZE CREATE TENSOR Q AS P @ P"),
            "(explain-analyze [] (create-tensor - Q - - - - - - [] (@ P P)))");
  EXPECT_EQ(statement("EXPLAIN (FORMAT JSON, SITES 10) SELECT 1"),
            "(explain [(format JSON) (sites 10)] (select 1))");
  EXPECT_EQ(statement("EXPLAIN (ANALYZE, FORMAT DOT) SELECT 1"),
            "(explain-analyze [(format DOT)] (select 1))");
  for (const char* off : {"off", "OFF", "= false", "0"})
    EXPECT_EQ(statement(fmt::format("EXPLAIN (ANALYZE {}) SELECT 1", off)),
              "(explain [] (select 1))");
  for (const char* on : {"", "on", "true", "1"})
    EXPECT_EQ(statement(fmt::format("EXPLAIN (ANALYZE {}) SELECT 1", on)),
              "(explain-analyze [] (select 1))");
  EXPECT_EQ(statement("EXPLAIN VERBOSE SELECT 1"), statement("EXPLAIN (VERBOSE) SELECT 1"));
  EXPECT_EQ(statement("EXPLAIN ANALYZE VERBOSE (SITES 2) SELECT 1"),
            statement("EXPLAIN (ANALYZE, VERBOSE, SITES 2) SELECT 1"));
  EXPECT_EQ(statement("EXPLAIN (SELECT 1)"), "(explain [] (select 1))");
}

}  // namespace
}  // namespace tessera::sql
