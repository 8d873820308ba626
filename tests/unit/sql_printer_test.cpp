#include <gtest/gtest.h>

#include <limits>

#include "lang/sql/completeness.h"
#include "lang/sql/parser.h"
#include "lang/sql/printer.h"

namespace tessera::sql {
namespace {

std::string again(std::string_view text) { return to_string(*parse(text).at(0)); }
std::string printed(std::string_view text) { return to_string(*parse_expression(text)); }

TEST(SqlPrinter, ParenthesesWhereTheyAreNeeded) {
  EXPECT_EQ(printed("((a) + (b * c))"), "a + b * c");
  EXPECT_EQ(printed("(a + b) * c"), "(a + b) * c");
  EXPECT_EQ(printed("a - (b - c)"), "a - (b - c)");
  EXPECT_EQ(printed("(a - b) - c"), "a - b - c");
  EXPECT_EQ(printed("NOT (a OR b) AND (c = d)"), "NOT (a OR b) AND c = d");
  EXPECT_EQ(printed("(a = b) = (c = d)"), "(a = b) = (c = d)");
  EXPECT_EQ(printed("(a + b).T"), "(a + b).T");
  EXPECT_EQ(printed("(a).T"), "(a).T");
  EXPECT_EQ(printed("-(-a)"), "- -a");
  EXPECT_EQ(printed("-(a + b)"), "-(a + b)");
  EXPECT_EQ(printed("(NOT a) IS NULL"), "(NOT a) IS NULL");
}

TEST(SqlPrinter, OneSpellingForEachThing) {
  EXPECT_EQ(printed("a==b"), "a = b");
  EXPECT_EQ(printed("a!=b"), "a <> b");
  EXPECT_EQ(printed("cast(a+1 as double precision)"), "(a + 1)::DOUBLE");
  EXPECT_EQ(printed("x::matrix(2,3) of real"), "x::MATRIX[2][3] OF FLOAT");
  EXPECT_EQ(printed("f(a==b,axes=[1])"), "f(a == b, axes = [1])");
  EXPECT_EQ(printed("SUM(a=b)"), "SUM(a = b)");
  EXPECT_EQ(again("select a b from t x cross join u"), "SELECT a AS b FROM t AS x, u");
  EXPECT_EQ(again("select * from (values (1)), ((values (2) limit 1) union select 3)"),
            "SELECT * FROM (VALUES (1)), ((VALUES (2) LIMIT 1) UNION SELECT 3)");
  EXPECT_EQ(again("select * from (values (1)), (select 3)"),
            "SELECT * FROM VALUES (1), (SELECT 3)");
  EXPECT_EQ(again("explain(analyze, sites 4) select 1"), "EXPLAIN ANALYZE (sites = 4) SELECT 1");
}

TEST(SqlPrinter, NumbersAndStrings) {
  EXPECT_EQ(printed("1.50"), "1.5");
  EXPECT_EQ(printed("1."), "1.0");
  EXPECT_EQ(printed("0.00000001"), "1e-08");
  EXPECT_EQ(printed("'it''s'"), "'it''s'");
  const auto literal = [](auto value) { return to_string(Expression{Literal{value}, {}}); };
  EXPECT_EQ(literal(std::int64_t{-5}), "-5");
  EXPECT_EQ(literal(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(printed("a- -9223372036854775808"), "a - -9223372036854775808");
  EXPECT_EQ(printed("- -9223372036854775808"), "- -9223372036854775808");
  EXPECT_EQ(printed("(-9223372036854775808)::text"), "(-9223372036854775808)::TEXT");
  EXPECT_EQ(literal(std::numeric_limits<double>::infinity()), "'inf'::DOUBLE");
}

TEST(SqlPrinter, NamesAreQuotedWhereTheyMustBe) {
  EXPECT_EQ(quoted_if_needed("ROW"), "ROW");
  EXPECT_EQ(quoted_if_needed("order"), "\"order\"");
  EXPECT_EQ(quoted_if_needed("a b"), "\"a b\"");
  EXPECT_EQ(quoted_if_needed("a\"b"), "\"a\"\"b\"");
  EXPECT_EQ(quoted_if_needed("2nd"), "\"2nd\"");
  EXPECT_EQ(quoted_if_needed("größe"), "\"größe\"");
}

TEST(SqlPrinter, Types) {
  Type type{Type::Kind::tensor};
  type.shape = {2, 3};
  EXPECT_EQ(to_string(type), "MATRIX[2][3]");
  type.element = DType::boolean;
  EXPECT_EQ(to_string(type), "MATRIX[2][3] OF BOOLEAN");
  type.shape = {7};
  EXPECT_EQ(to_string(type), "VECTOR[7] OF BOOLEAN");
  type.shape = {1, 2, 3};
  EXPECT_EQ(to_string(type), "TENSOR[1][2][3] OF BOOLEAN");
  type.shape = {};
  EXPECT_EQ(to_string(type), "TENSOR[] OF BOOLEAN");
  EXPECT_EQ(to_string(Type{Type::Kind::real}), "FLOAT");
}

TEST(SqlPrinter, StatementsAsTheyCouldHaveBeenWritten) {
  for (const char* text : {
           "SELECT DISTINCT a, t.*, COUNT(*) AS n FROM t JOIN u ON t.x = u.x, VALUES (1), (2) AS "
           "v(a) "
           "WHERE a NOT IN (1, 2) GROUP BY a HAVING n > 1 ORDER BY a DESC, b LIMIT 5 OFFSET 2",
           "WITH a(x) AS (SELECT 1) SELECT 1 UNION ALL (SELECT 2 LIMIT 1)",
           "SELECT SUM(VAL) FROM UNION t[i:0...50][0...i]",
           "CREATE TABLE t[i:2...][j:1...i - 1][0] (val) AS SELECT * FROM t[i - 1][j][0] AS x",
           "CREATE TABLE IF NOT EXISTS t (a INT, m MATRIX[2][3] OF FLOAT, PRIMARY KEY (a))",
           "CREATE TENSOR P [40][40] OF FLOAT TILE [4][4] PARTITION BY (0, 1) VIRTUAL",
           "CREATE TENSOR X FROM 'x.csv' WITH (format = csv, header = TRUE) TILE [10][20]",
           "CREATE TENSOR C TILE [2][2] AS A @ B",
           "CREATE VIEW v (a, b) AS SELECT 1, 2",
           "INSERT INTO t (a, b) VALUES (1, 2)",
           "COPY (SELECT 1) TO 'f' WITH (format = csv)",
           "COPY t FROM 'f'",
           "DROP TENSOR IF EXISTS t",
           "DROP TABLE IF EXISTS t[3][i:1...5][i]",
           "ALTER VIEW a RENAME TO b",
           "DESCRIBE t",
           "SHOW TABLES",
           "SET threads = 4",
           "RESET threads",
           "MATERIALIZE t[1][2]",
           "EXECUTE (FOR i IN 0...5: FOR j IN 0...i: (SELECT 1; MATERIALIZE t[i]); SELECT 2)",
           "EXPLAIN ANALYZE (sites = 4) SELECT 1",
           "CHECKPOINT",
           "VACUUM",
       })
    EXPECT_EQ(again(text), text);
}

TEST(SqlCompleteness, AStatementIsCompleteAtItsSemicolon) {
  for (const char* text : {"SELECT 1;", "SELECT 1; ", "SELECT 1; -- done", ";", "SELECT ';';",
                           "EXECUTE (SELECT 1; SELECT 2);", "SELECT 1;\n/* ; */\n", "SELECT $;",
                           "SELECT 1); SELECT 2;", "SELECT \"a;\"\"b\";"})
    EXPECT_TRUE(is_complete(text)) << text;
  for (const char* text :
       {"", "  ", "-- a;", "SELECT 1", "SELECT ';", "SELECT 1 -- ;", "/* ; ", "EXECUTE (SELECT 1;",
        "SELECT 1; SELECT 2", "SELECT \"a;", "SELECT 'it'';"})
    EXPECT_FALSE(is_complete(text)) << text;
}

}  // namespace
}  // namespace tessera::sql
