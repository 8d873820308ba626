#include <gtest/gtest.h>

#include "lang/sql/parser.h"

namespace tessera::sql {
namespace {

/// A text that is no SQL, where its error stands and what it says.
struct Mistake {
  const char* text;
  int line, column;
  const char* message;
};

const Mistake mistakes[] = {
    // Statements
    {"SELCT 1", 1, 1, "syntax error at or near \"SELCT\"; did you mean SELECT?"},
    {"CRAETE TABLE t (a INT)", 1, 1, "syntax error at or near \"CRAETE\"; did you mean CREATE?"},
    {"SELECT 1;\n  EXPLIAN SELECT 1", 2, 3,
     "syntax error at or near \"EXPLIAN\"; did you mean EXPLAIN?"},
    {"frobnicate t", 1, 1,
     "syntax error at or near \"frobnicate\": expected a statement such as SELECT, CREATE, INSERT "
     "or EXPLAIN"},
    {"UPDATE t SET a = 1", 1, 1,
     "syntax error at or near \"UPDATE\"; rows cannot be changed or deleted, only added with "
     "INSERT and COPY"},
    {"DELETE FROM t", 1, 1,
     "syntax error at or near \"DELETE\"; rows cannot be changed or deleted, only added with "
     "INSERT and COPY"},
    {"BEGIN", 1, 1, "syntax error at or near \"BEGIN\"; every statement is its own transaction"},
    {"FOR i IN 0...5: SELECT 1", 1, 1,
     "syntax error at or near \"FOR\"; put loops inside EXECUTE ( ... )"},
    {"42", 1, 1, "syntax error at or near \"42\": expected a statement such as SELECT or CREATE"},
    {"SELECT 1 SELECT 2", 1, 10,
     "syntax error at or near \"SELECT\": expected the end of the statement; add ';' between "
     "statements"},
    {"SELECT * FROM t\nCREATE TABLE u (a INT)", 2, 1,
     "syntax error at or near \"CREATE\": expected the end of the statement; add ';' between "
     "statements"},
    {"CHECKPOINT now", 1, 12, "CHECKPOINT takes no name: it works on the whole database"},
    {"CHECKPOINT 3", 1, 12, "syntax error at or near \"3\": expected ';', a comma or an operator"},
    {"SELECT 1)", 1, 9, "syntax error at or near \")\": expected ';' or the end of the statement"},
    // SELECT
    {"SELECT", 1, 7, "syntax error at end of input: expected an expression"},
    {"SELECT a, FROM t", 1, 9,
     "syntax error at or near \"FROM\": nothing follows the comma; remove it"},
    {"SELECT FROM t", 1, 8,
     "syntax error at or near \"FROM\": expected an expression; quote the reserved word to use it "
     "as a name, as in \"FROM\""},
    {"SELECT a b c FROM t", 1, 12,
     "syntax error at or near \"c\": expected ';', a comma or an operator"},
    {"SELECT a AS 'b'", 1, 13,
     "syntax error at or near 'b': expected a name after AS; quote names with \""},
    {"SELECT a FROM", 1, 14, "syntax error at end of input: expected a table name"},
    {"SELECT a FROM order", 1, 15,
     "syntax error at or near \"order\": expected a table name; quote the reserved word to use it "
     "as a name, as in \"order\""},
    {"SELECT a FROM t WHERE", 1, 22, "syntax error at end of input: expected an expression"},
    {"SELECT a FROM t GROUP a", 1, 23, "syntax error at or near \"a\": expected BY after GROUP"},
    {"SELECT a FROM t GROUP BY a WHERE b", 1, 28,
     "syntax error at or near \"WHERE\"; the clauses of a query have the order SELECT, FROM, "
     "WHERE, GROUP BY, HAVING, UNION, ORDER BY, LIMIT, OFFSET"},
    {"SELECT a WHERE b FROM t", 1, 18,
     "syntax error at or near \"FROM\"; the clauses of a query have the order SELECT, FROM, WHERE, "
     "GROUP BY, HAVING, UNION, ORDER BY, LIMIT, OFFSET"},
    {"SELECT a FROM t LIMIT 1 ORDER BY a", 1, 25,
     "syntax error at or near \"ORDER\"; the clauses of a query have the order SELECT, FROM, "
     "WHERE, GROUP BY, HAVING, UNION, ORDER BY, LIMIT, OFFSET"},
    {"SELECT a FROM t ORDER a", 1, 23, "expected BY after ORDER"},
    {"SELECT a FROM t LEFT JOIN u ON x", 1, 17,
     "syntax error at or near \"LEFT\": expected ';' or the end of the statement; only [INNER] "
     "JOIN ... ON condition and CROSS JOIN are supported"},
    {"SELECT a FROM t JOIN u USING (x)", 1, 24,
     "syntax error at or near \"USING\": expected ON and a condition (or use CROSS JOIN); use JOIN "
     "... ON a.x = b.x"},
    {"SELECT a FROM t JOIN u", 1, 23,
     "syntax error at end of input: expected ON and a condition (or use CROSS JOIN)"},
    {"SELECT a FROM t CROSS u", 1, 23, "syntax error at or near \"u\": expected JOIN after CROSS"},
    {"SELECT a FROM (t JOIN u ON x)", 1, 16,
     "syntax error at or near \"t\": expected a query in the parentheses (write joins without "
     "parentheses)"},
    {"SELECT a FROM SELECT 1", 1, 15, "a subquery in FROM needs parentheses"},
    {"SELECT a FROM (SELECT 1", 1, 24,
     "syntax error at end of input: expected ')' after the subquery"},
    {"SELECT a FROM (VALUES (1)) AS t(1)", 1, 33,
     "syntax error at or near \"1\": expected a column name"},
    {"SELECT 1 EXCEPT SELECT 2", 1, 10,
     "syntax error at or near \"EXCEPT\": expected ';' or the end of the statement; the only set "
     "operation is UNION [ALL]"},
    {"SELECT 1 UNION", 1, 15,
     "syntax error at end of input: expected a query (SELECT, VALUES or a query in parentheses)"},
    {"(SELECT 1 LIMIT 1) LIMIT 2", 1, 20,
     "the query in parentheses has its own WITH, ORDER BY, LIMIT or OFFSET; wrap it in SELECT * "
     "FROM ( ... )"},
    {"VALUES (1, 2), (3)", 1, 14,
     "VALUES lists must all have the same length: row 2 has 1 values, the first row 2"},
    {"VALUES 1", 1, 8, "syntax error at or near \"1\": expected '(' and the values of a row"},
    {"VALUES ()", 1, 9, "syntax error at or near \")\": expected an expression"},
    {"WITH RECURSIVE t AS (SELECT 1) SELECT 1", 1, 6,
     "syntax error at or near \"RECURSIVE\": expected a name after WITH; use versioned tables for "
     "recursion: CREATE TABLE t[i:1...] AS ... t[i-1]"},
    {"WITH t SELECT 1", 1, 8,
     "syntax error at or near \"SELECT\": expected AS ( query ) after the name"},
    {"SELECT SUM(x) OVER (ORDER BY y)", 1, 15,
     "syntax error at or near \"OVER\": expected ';' or the end of the statement; window functions "
     "are not supported"},
    {"SELECT 9 BULK COLLECT INTO AEW", 1, 10,
     "syntax error at or near \"BULK\": expected ';' or the end of the statement; use INSERT INTO "
     "t SELECT ... or CREATE TABLE t AS SELECT ..."},
    // Expressions
    {"SELECT a +", 1, 11, "syntax error at end of input: expected an expression"},
    {"SELECT a + * b", 1, 12, "* is allowed only in the list of a SELECT and in COUNT(*)"},
    {"SELECT (a + b", 1, 14, "syntax error at end of input: expected an operator or ')'"},
    {"SELECT (a, b)", 1, 10, "syntax error at or near \",\": expected an operator or ')'"},
    {"SELECT a < b < c", 1, 14,
     "comparisons cannot be chained; combine them with AND, as in a < b AND b < c, or use "
     "parentheses"},
    {"SELECT a = b IS NULL", 1, 14,
     "comparisons cannot be chained; combine them with AND, as in a < b AND b < c, or use "
     "parentheses"},
    {"SELECT a = NOT b", 1, 12, "NOT needs parentheses here; write (NOT ...)"},
    {"SELECT a IS 5", 1, 13, "syntax error at or near \"5\": expected NULL or NOT NULL after IS"},
    {"SELECT a NOT NULL", 1, 14,
     "syntax error at or near \"NULL\": expected IN or BETWEEN after NOT"},
    {"SELECT a BETWEEN 1 OR 2", 1, 20,
     "syntax error at or near \"OR\": expected AND between the bounds of BETWEEN"},
    {"SELECT a IN (SELECT 1)", 1, 14,
     "IN (SELECT ...) is not supported; join with the subquery instead, or put a subquery that "
     "returns a single value in its own parentheses"},
    {"SELECT a IN 5", 1, 13, "expected '(' and the values after IN"},
    {"SELECT a LIKE 'x'", 1, 10,
     "syntax error at or near \"LIKE\": expected ';' or the end of the statement; compare texts "
     "with =, <, IN or BETWEEN"},
    {"SELECT a || b", 1, 10,
     "syntax error at or near \"||\": expected ';' or the end of the statement; texts cannot be "
     "concatenated; use OR for a disjunction"},
    {"SELECT EXISTS (SELECT 1)", 1, 16, "join with the subquery instead"},
    {"SELECT f(SELECT 1)", 1, 10, "a subquery needs its own parentheses: f((SELECT ...))"},
    {"SELECT f(a b)", 1, 12,
     "syntax error at or near \"b\": expected an operator, ',' or ')' after an argument"},
    {"SELECT f(a,)", 1, 11, "syntax error at or near \")\": nothing follows the comma; remove it"},
    {"SELECT f(axes = 1, a)", 1, 20,
     "arguments of \"f\" must come before its parameters, such as \"axes\""},
    {"SELECT f(a = 1, A = 2)", 1, 17, "parameter \"A\" specified more than once"},
    {"SELECT a.b.c", 1, 12,
     "only .T, the transpose, can follow here; a name has at most two parts, table.column"},
    {"SELECT t.* + 1", 1, 12,
     "syntax error at or near \"+\": expected ';' or the end of the statement"},
    {"SELECT a + t.*", 1, 12, "t.* is allowed only in the list of a SELECT"},
    {"SELECT s.f(x)", 1, 8, "a function name cannot be qualified; write f(...)"},
    {"SELECT a.b[0]", 1, 11, "an index must follow the name of a table, not of a column"},
    {"SELECT W[0...5]", 1, 11, "SELECT from UNION W[...]"},
    {"SELECT [1, 2", 1, 13, "expected ',' or ']' after an element of the array"},
    {"SELECT CASE a END", 1, 15, "syntax error at or near \"END\": expected WHEN after CASE"},
    {"SELECT CASE WHEN a 1 END", 1, 20, "expected THEN after the condition of WHEN"},
    {"SELECT CASE WHEN a THEN 1", 1, 26, "expected WHEN, ELSE or END of the CASE"},
    {"SELECT CAST(a, INT)", 1, 14,
     "syntax error at or near \",\": expected AS and a type in CAST(value AS type)"},
    {"SELECT 1 +\n  'abc", 2, 3,
     "unterminated string; add the missing ' (write '' for a quote inside a string, as in "
     "'it''s')"},
    // Types
    {"SELECT a::STRING", 1, 11, "type \"STRING\" does not exist; did you mean TEXT?"},
    {"SELECT a::DUOBLE", 1, 11, "type \"DUOBLE\" does not exist; did you mean DOUBLE?"},
    {"SELECT a::blob", 1, 11,
     "type \"blob\" does not exist; available types: INT, BIGINT, FLOAT, DOUBLE, BOOLEAN, TEXT, "
     "VECTOR[n], MATRIX[n][m] and TENSOR[n][m]..."},
    {"SELECT a::5", 1, 11, "syntax error at or near \"5\": expected a type"},
    {"SELECT a::MATRIX[2]", 1, 17, "a MATRIX has two sizes, not 1; write VECTOR[n]"},
    {"SELECT a::VECTOR[2][3]", 1, 17, "a VECTOR has one size, not 2; write MATRIX[n][m]"},
    {"SELECT a::MATRIX", 1, 17,
     "syntax error at end of input: expected the sizes of MATRIX, as in [100][200]"},
    {"SELECT a::VECTOR[0]", 1, 18, "a size must be at least 1"},
    {"SELECT a::VECTOR[n]", 1, 18, "syntax error at or near \"n\": expected an integer size"},
    {"SELECT a::TENSOR[1][1][1][1][1][1][1][1][1]", 1, 42,
     "a tensor cannot have more than 8 dimensions"},
    {"SELECT a::VECTOR[2] OF TEXT", 1, 24,
     "syntax error at or near \"TEXT\": expected FLOAT, DOUBLE, BIGINT or BOOLEAN after OF"},
    // Versions
    {"SELECT * FROM t[0..5]", 1, 18,
     "syntax error at or near \"..\": expected an operator, '...' or ']' after the index; write a "
     "range with three dots, as in 0...50"},
    {"SELECT * FROM t[0...5]", 1, 17, "expected one version; use UNION t[...] to read several"},
    {"SELECT * FROM UNION t", 1, 22, "expected the versions of the table, as in UNION t[0...5]"},
    {"SELECT * FROM UNION t[0...]", 1, 27,
     "a range without an end is allowed only in CREATE TABLE; add the last version to read"},
    {"SELECT * FROM t[1", 1, 18, "expected an operator, '...' or ']' after the index"},
    {"MATERIALIZE t[i:0...5]", 1, 15, "expected one version; use UNION t[...] to read several"},
    // Definitions
    {"CREATE INDEX i ON t", 1, 8,
     "syntax error at or near \"INDEX\": expected TABLE, TENSOR or VIEW after CREATE"},
    {"CREATE OR REPLACE VIEW v AS SELECT 1", 1, 8,
     "CREATE OR REPLACE works for tables and tensors; use DROP VIEW first"},
    {"CREATE OR TABLE t AS SELECT 1", 1, 11, "expected REPLACE after CREATE OR"},
    {"CREATE OR REPLACE TABLE IF NOT EXISTS t AS SELECT 1", 1, 25,
     "use only one of OR REPLACE and IF NOT EXISTS"},
    {"CREATE OR REPLACE TABLE t[0] (n) AS SELECT 1", 1, 26,
     "CREATE OR REPLACE cannot define versions of a table; use DROP TABLE t first"},
    {"CREATE OR REPLACE TENSOR x FROM 'x.npy'", 1, 40,
     "CREATE OR REPLACE TENSOR cannot read a file; use DROP TENSOR x first, or create another "
     "tensor from the file and replace this one AS that"},
    {"CREATE TABLE t", 1, 15, "expected the columns in parentheses, or AS and a query"},
    {"CREATE TABLE t ()", 1, 17, "syntax error at or near \")\": expected a column name"},
    {"CREATE TABLE t (a INT b INT)", 1, 23,
     "syntax error at or near \"b\": expected ',' or ')' after a column"},
    {"CREATE TABLE t (PRIMARY KEY (a))", 1, 33, "table \"t\" has no columns"},
    {"CREATE TABLE t (a INT,)", 1, 22,
     "syntax error at or near \")\": nothing follows the comma; remove it"},
    {"CREATE TABLE t (a, b INT)", 1, 17,
     "column \"a\" needs a type, as in a INT; only CREATE TABLE ... AS takes types from a query"},
    {"CREATE TABLE t (a INT NOT NULL)", 1, 23,
     "the only column constraint is PRIMARY KEY; remove this one"},
    {"CREATE TABLE t (a INT PRIMARY KEY, b INT PRIMARY KEY)", 1, 36,
     "multiple primary keys are not allowed; write a key of several columns as PRIMARY KEY (a, b) "
     "after them"},
    {"CREATE TABLE IF EXISTS t (a INT)", 1, 17,
     "syntax error at or near \"EXISTS\": expected NOT EXISTS after IF; join with the subquery "
     "instead, or compare (SELECT COUNT(*) ...) with 0"},
    {"CREATE TABLE select (a INT)", 1, 14,
     "syntax error at or near \"select\": expected the name of the new table; quote the reserved "
     "word to use it as a name, as in \"select\""},
    {"CREATE TABLE t[i:0..] (a) AS SELECT 1", 1, 19,
     "syntax error at or near \"..\": expected an operator, '...' or ']' after the index; write a "
     "range with three dots, as in 0...50"},
    {"CREATE VIEW v SELECT 1", 1, 15,
     "syntax error at or near \"SELECT\": expected AS and a query"},
    {"CREATE TENSOR X", 1, 16,
     "syntax error at end of input: expected FROM 'file', AS expression or VIRTUAL"},
    {"CREATE TENSOR X FROM x.npy", 1, 22,
     "syntax error at or near \"x\": expected a file name, as in FROM 'x.npy'"},
    {"CREATE TENSOR X FROM \"x.npy\"", 1, 22,
     "syntax error at or near \"x.npy\": expected a file name, as in FROM 'x.npy'; quote strings "
     "with '"},
    {"CREATE TENSOR X VIRTUAL", 1, 24,
     "a virtual tensor needs a shape, as in CREATE TENSOR X [4000][4000] VIRTUAL"},
    {"CREATE TENSOR X FROM 'f' AS A", 1, 30,
     "tensor \"X\" has several sources; use only one of FROM 'file', AS expression and VIRTUAL"},
    {"CREATE TENSOR X AS SELECT 1", 1, 20,
     "CREATE TENSOR needs an expression over tensors, not a query; use CREATE TABLE ... AS SELECT"},
    {"CREATE TENSOR X AS A WITH (a = 1)", 1, 34,
     "WITH ( ... ) sets options of a file; add FROM 'file'"},
    {"CREATE TENSOR X [2] TILE [1] TILE [1] VIRTUAL", 1, 30, "TILE specified more than once"},
    {"CREATE TENSOR X [2] PARTITION BY (8) VIRTUAL", 1, 35, "a dimension must be between 0 and 7"},
    // The others
    {"INSERT t VALUES (1)", 1, 8, "syntax error at or near \"t\": expected INTO after INSERT"},
    {"INSERT INTO t 5", 1, 15, "syntax error at or near \"5\": expected VALUES or a query"},
    {"COPY t 'f'", 1, 8, "syntax error at or near 'f': expected FROM or TO and a file name"},
    {"COPY (SELECT 1) FROM 'f'", 1, 17, "COPY FROM needs a table, not a query"},
    {"COPY t TO 'f' WITH (a = 1, A = 2)", 1, 28, "option \"a\" specified more than once"},
    {"DROP JOB 3", 1, 10,
     "syntax error at or near \"3\": expected the name of a job from SHOW JOBS"},
    {"SELECT a ? b", 1, 10, "expected"},
    {"SELECT ?", 1, 8, "no values given for the parameters (?)"},
    {"DROP t", 1, 6, "syntax error at or near \"t\": expected TABLE, TENSOR or VIEW after DROP"},
    {"DROP TABLE IF t", 1, 15, "syntax error at or near \"t\": expected EXISTS after IF"},
    {"ALTER TABLE t ADD a INT", 1, 15,
     "syntax error at or near \"ADD\": expected RENAME TO and a new name, the only form of ALTER"},
    {"SHOW TABELS", 1, 6, "syntax error at or near \"TABELS\"; did you mean TABLES?"},
    {"SHOW everything", 1, 6,
     "expected TABLES, TENSORS, VIEWS, FUNCTIONS, SETTINGS, HISTORY or JOBS"},
    {"SET threads 4", 1, 13, "syntax error at or near \"4\": expected = or TO and a value"},
    {"SET memory_limit = 2GB", 1, 20,
     "invalid number or name '2GB'; quote a name that begins with a digit, as in \"2nd\", and "
     "write a size with a unit as a string"},
    {"EXPLAIN EXPLAIN SELECT 1", 1, 9, "EXPLAIN cannot explain EXPLAIN"},
    {"EXPLAIN (SITES 10", 1, 18,
     "syntax error at end of input: expected ',' or ')' after an option"},
    {"EXPLAIN", 1, 8,
     "syntax error at end of input: expected a statement such as SELECT or CREATE"},
    {"EXECUTE SELECT 1", 1, 9,
     "syntax error at or near \"SELECT\": expected '(' and statements after EXECUTE"},
    {"EXECUTE ()", 1, 10, "syntax error at or near \")\": expected a query, MATERIALIZE or FOR"},
    {"EXECUTE (DROP TABLE t)", 1, 10,
     "syntax error at or near \"DROP\": expected a query, MATERIALIZE or FOR"},
    {"EXECUTE (FOR i IN 5: SELECT 1)", 1, 20, "expected '...' between the ends of the range"},
    {"EXECUTE (FOR i IN 0...5 SELECT 1)", 1, 25,
     "syntax error at or near \"SELECT\": expected ':' before the body of the loop"},
    {"EXECUTE (\n  FOR i IN 0...5:\n    SELECT i FROM t[i)", 3, 22, "or ']' after the index"},
    {"EXECUTE (SELECT 1", 1, 18, "expected ';' and another statement, or ')'"},
    // Columns are characters
    {"SELECT 'größe', größe größe größe", 1, 29,
     "syntax error at or near \"größe\": expected ';', a comma or an operator"},
    {"-- größe\nSELECT \"größe\" %", 2, 17, "syntax error at end of input: expected an expression"},
};

class SqlMistakes : public ::testing::TestWithParam<Mistake> {};

TEST_P(SqlMistakes, AreToldWithTheirPlaceAndRemedy) {
  const Mistake& mistake = GetParam();
  try {
    (void)parse(mistake.text);
    FAIL() << mistake.text << " was read";
  } catch (const lang::ErrorAt& error) {
    const std::string message = error.what();
    const lang::LineColumn at = lang::line_and_column(mistake.text, error.location);
    EXPECT_STREQ(error.kind(), "ParseError");
    EXPECT_EQ(at.line, mistake.line) << mistake.text << "\n" << message;
    EXPECT_EQ(at.column, mistake.column) << mistake.text << "\n" << message;
    EXPECT_NE(message.find(mistake.message), std::string::npos) << mistake.text << "\n" << message;
  }
}

INSTANTIATE_TEST_SUITE_P(, SqlMistakes, ::testing::ValuesIn(mistakes));

TEST(SqlMistakesBesides, LongTokensAreShortened) {
  try {
    (void)parse("SELECT 1 '" + std::string(10000, 'x') + "'");
    FAIL() << "it was read";
  } catch (const lang::ErrorAt& error) {
    EXPECT_LT(std::string(error.what()).size(), 150U);
  }
}

TEST(SqlMistakesBesides, WhatFollowsAnExpressionOrAQueryIsRefused) {
  EXPECT_THROW(parse_expression("a b"), lang::ErrorAt);
  EXPECT_THROW(parse_expression("a;"), lang::ErrorAt);
  EXPECT_THROW(parse_expression(""), lang::ErrorAt);
  EXPECT_THROW(parse_query("SELECT 1; SELECT 2"), lang::ErrorAt);
  EXPECT_THROW(parse_query("CHECKPOINT"), lang::ErrorAt);
}

}  // namespace
}  // namespace tessera::sql
