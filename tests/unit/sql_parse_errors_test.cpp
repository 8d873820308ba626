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
    {"SELCT 1", 1, 1, "there is no statement 'SELCT'; do you mean SELECT?"},
    {"CRAETE TABLE t (a INT)", 1, 1, "there is no statement 'CRAETE'; do you mean CREATE?"},
    {"SELECT 1;\n  EXPLIAN SELECT 1", 2, 3, "do you mean EXPLAIN?"},
    {"frobnicate t", 1, 1, "there is no statement 'frobnicate': statements begin with SELECT,"},
    {"UPDATE t SET a = 1", 1, 1, "rows are added by INSERT and COPY, and never changed"},
    {"DELETE FROM t", 1, 1, "rows are added by INSERT and COPY, and never changed"},
    {"BEGIN", 1, 1, "every statement is a transaction of its own"},
    {"FOR i IN 0...5: SELECT 1", 1, 1, "loops stand inside of EXECUTE ( ... )"},
    {"42", 1, 1, "expected a statement, such as SELECT or CREATE, but found the number 42"},
    {"SELECT 1 SELECT 2", 1, 10, "a ';' is missing between two statements"},
    {"SELECT * FROM t\nCREATE TABLE u (a INT)", 2, 1, "a ';' is missing between two statements"},
    {"CHECKPOINT now", 1, 12, "expected ';', a comma or an operator, but found 'now'"},
    {"SELECT 1)", 1, 9, "expected ';' or the end of the statement, but found ')'"},
    // SELECT
    {"SELECT", 1, 7, "expected an expression, but the text ends"},
    {"SELECT a, FROM t", 1, 9, "there is nothing after this comma but 'FROM': leave it out"},
    {"SELECT FROM t", 1, 8,
     "found 'FROM', which is a reserved word: as a name it is quoted, \"FROM\""},
    {"SELECT a b c FROM t", 1, 12, "expected ';', a comma or an operator, but found 'c'"},
    {"SELECT a AS 'b'", 1, 13, "found the string 'b': names are quoted with \""},
    {"SELECT a FROM", 1, 14, "expected a table's name, but the text ends"},
    {"SELECT a FROM order", 1, 15,
     "expected a table's name, but found 'order', which is a reserved"},
    {"SELECT a FROM t WHERE", 1, 22, "expected an expression, but the text ends"},
    {"SELECT a FROM t GROUP a", 1, 23, "expected BY after GROUP, but found 'a'"},
    {"SELECT a FROM t GROUP BY a WHERE b", 1, 28, "'WHERE' cannot follow here: the clauses of a"},
    {"SELECT a WHERE b FROM t", 1, 18, "'FROM' cannot follow here: the clauses of a query come in"},
    {"SELECT a FROM t LIMIT 1 ORDER BY a", 1, 25, "'ORDER' cannot follow here"},
    {"SELECT a FROM t ORDER a", 1, 23, "expected BY after ORDER"},
    {"SELECT a FROM t LEFT JOIN u ON x", 1, 17, "joins are inner ones"},
    {"SELECT a FROM t JOIN u USING (x)", 1, 24, "compared in JOIN ... ON a.x = b.x"},
    {"SELECT a FROM t JOIN u", 1, 23,
     "expected ON and a condition (or CROSS JOIN, which has none)"},
    {"SELECT a FROM t CROSS u", 1, 23, "expected JOIN after CROSS, but found 'u'"},
    {"SELECT a FROM (t JOIN u ON x)", 1, 16, "(joins are written without any)"},
    {"SELECT a FROM SELECT 1", 1, 15, "a subquery in FROM stands in parentheses"},
    {"SELECT a FROM (SELECT 1", 1, 24, "expected ')' after the subquery, but the text ends"},
    {"SELECT a FROM (VALUES (1)) AS t(1)", 1, 33,
     "expected a column's name, but found the number 1"},
    {"SELECT 1 EXCEPT SELECT 2", 1, 10, "of the operations on sets there is only UNION [ALL]"},
    {"SELECT 1 UNION", 1, 15, "expected a query: SELECT, VALUES or one in parentheses"},
    {"(SELECT 1 LIMIT 1) LIMIT 2", 1, 20, "has a WITH, ORDER BY, LIMIT or OFFSET of its own"},
    {"VALUES (1, 2), (3)", 1, 14, "row 2 of VALUES has 1 values, and the first one has 2"},
    {"VALUES 1", 1, 8, "expected '(' and the values of a row, but found the number 1"},
    {"VALUES ()", 1, 9, "expected an expression, but found ')'"},
    {"WITH RECURSIVE t AS (SELECT 1) SELECT 1", 1, 6, "recursion is written with versioned tables"},
    {"WITH t SELECT 1", 1, 8, "expected AS ( query ) after the name, but found 'SELECT'"},
    {"SELECT SUM(x) OVER (ORDER BY y)", 1, 15, "there are no window functions"},
    {"SELECT 9 BULK COLLECT INTO AEW", 1, 10, "stored by INSERT INTO t SELECT"},
    // Expressions
    {"SELECT a +", 1, 11, "expected an expression, but the text ends"},
    {"SELECT a + * b", 1, 12, "* stands only in the list of a SELECT"},
    {"SELECT (a + b", 1, 14, "expected an operator or ')', but the text ends"},
    {"SELECT (a, b)", 1, 10, "expected an operator or ')', but found ','"},
    {"SELECT a < b < c", 1, 14, "join them with AND, as in a < b AND b < c"},
    {"SELECT a = b IS NULL", 1, 14, "comparisons do not follow one another"},
    {"SELECT a = NOT b", 1, 12,
     "NOT binds more loosely than what stands before it: write (NOT ...)"},
    {"SELECT a IS 5", 1, 13, "expected NULL or NOT NULL after IS, but found the number 5"},
    {"SELECT a NOT NULL", 1, 14, "expected IN or BETWEEN after NOT, but found 'NULL'"},
    {"SELECT a BETWEEN 1 OR 2", 1, 20, "expected AND between the two ends of BETWEEN"},
    {"SELECT a IN (SELECT 1)", 1, 14, "IN takes a list of values: join with the subquery instead"},
    {"SELECT a IN 5", 1, 13, "expected '(' and the values after IN"},
    {"SELECT a LIKE 'x'", 1, 10, "texts are compared with =, <, IN and BETWEEN only"},
    {"SELECT a || b", 1, 10, "texts cannot be joined; 'or' is OR"},
    {"SELECT EXISTS (SELECT 1)", 1, 16, "join with the subquery instead"},
    {"SELECT f(SELECT 1)", 1, 10, "a subquery has parentheses of its own: f((SELECT ...))"},
    {"SELECT f(a b)", 1, 12, "expected an operator, ',' or ')' after an argument, but found 'b'"},
    {"SELECT f(a,)", 1, 11, "there is nothing after this comma but ')': leave it out"},
    {"SELECT f(axes = 1, a)", 1, 20,
     "the arguments of 'f' stand before its parameters, such as 'axes'"},
    {"SELECT f(a = 1, A = 2)", 1, 17, "the parameter 'A' is given twice"},
    {"SELECT a.b.c", 1, 12, "only .T, for the transpose, can follow here"},
    {"SELECT t.* + 1", 1, 12, "expected ';' or the end of the statement, but found '+'"},
    {"SELECT a + t.*", 1, 12, "t.* stands only in the list of a SELECT, by itself"},
    {"SELECT s.f(x)", 1, 8, "a function's name has one part: f(...)"},
    {"SELECT a.b[0]", 1, 11, "an index follows the name of a table, not that of a column"},
    {"SELECT W[0...5]", 1, 11, "SELECT from UNION W[...]"},
    {"SELECT [1, 2", 1, 13, "expected ',' or ']' after an element of the array"},
    {"SELECT CASE a END", 1, 15, "expected WHEN after CASE, but found 'END'"},
    {"SELECT CASE WHEN a 1 END", 1, 20, "expected THEN after the condition of WHEN"},
    {"SELECT CASE WHEN a THEN 1", 1, 26, "expected WHEN, ELSE or END of the CASE"},
    {"SELECT CAST(a, INT)", 1, 14, "expected AS and a type in CAST(value AS type), but found ','"},
    {"SELECT 1 +\n  'abc", 2, 3, "the string that begins here does not end"},
    // Types
    {"SELECT a::STRING", 1, 11, "there is no type 'STRING'; do you mean TEXT?"},
    {"SELECT a::DUOBLE", 1, 11, "there is no type 'DUOBLE'; do you mean DOUBLE?"},
    {"SELECT a::blob", 1, 11, "there is no type 'blob': types are INT, BIGINT, FLOAT,"},
    {"SELECT a::5", 1, 11, "expected a type, but found the number 5"},
    {"SELECT a::MATRIX[2]", 1, 17, "a MATRIX has two sizes, not 1: write VECTOR[n]"},
    {"SELECT a::VECTOR[2][3]", 1, 17, "a VECTOR has one size, not 2: write MATRIX[n][m]"},
    {"SELECT a::MATRIX", 1, 17, "expected the sizes of MATRIX as in [100][200]"},
    {"SELECT a::VECTOR[0]", 1, 18, "a size is at least 1"},
    {"SELECT a::VECTOR[n]", 1, 18, "expected a size, which is a whole number, but found 'n'"},
    {"SELECT a::TENSOR[1][1][1][1][1][1][1][1][1]", 1, 42, "at most 8 sizes"},
    {"SELECT a::VECTOR[2] OF TEXT", 1, 24,
     "expected FLOAT, DOUBLE, BIGINT or BOOLEAN after OF, not"},
    // Versions
    {"SELECT * FROM t[0..5]", 1, 18, "a range is written with three dots, as in 0...50"},
    {"SELECT * FROM t[0...5]", 1, 17, "several versions are read with UNION t[...]"},
    {"SELECT * FROM UNION t", 1, 22, "expected the versions of the table, as in UNION t[0...5]"},
    {"SELECT * FROM UNION t[0...]", 1, 27, "say up to which"},
    {"SELECT * FROM t[1", 1, 18, "expected an operator, '...' or ']' after the index"},
    {"MATERIALIZE t[i:0...5]", 1, 15, "several versions are read with UNION t[...]"},
    // Definitions
    {"CREATE INDEX i ON t", 1, 8, "expected TABLE, TENSOR or VIEW after CREATE, but found 'INDEX'"},
    {"CREATE OR REPLACE VIEW v AS SELECT 1", 1, 8, "nothing is replaced by CREATE: DROP it first"},
    {"CREATE TABLE t", 1, 15, "expected the columns in parentheses, or AS and a query"},
    {"CREATE TABLE t ()", 1, 17, "expected a column's name, but found ')'"},
    {"CREATE TABLE t (a INT b INT)", 1, 23, "expected ',' or ')' after a column, but found 'b'"},
    {"CREATE TABLE t (PRIMARY KEY (a))", 1, 33, "the table 't' has no columns"},
    {"CREATE TABLE t (a INT,)", 1, 22, "there is nothing after this comma but ')'"},
    {"CREATE TABLE t (a, b INT)", 1, 17, "the column 'a' needs a type, as in a INT"},
    {"CREATE TABLE t (a INT NOT NULL)", 1, 23, "a column has no constraint but PRIMARY KEY"},
    {"CREATE TABLE t (a INT PRIMARY KEY, b INT PRIMARY KEY)", 1, 36, "has a PRIMARY KEY already"},
    {"CREATE TABLE IF EXISTS t (a INT)", 1, 17, "expected NOT EXISTS after IF, but found 'EXISTS'"},
    {"CREATE TABLE select (a INT)", 1, 14, "as a name it is quoted, \"select\""},
    {"CREATE TABLE t[i:0..] (a) AS SELECT 1", 1, 19, "a range is written with three dots"},
    {"CREATE VIEW v SELECT 1", 1, 15, "expected AS and a query, but found 'SELECT'"},
    {"CREATE TENSOR X", 1, 16,
     "expected where the tensor comes from: FROM 'file', AS expression, or"},
    {"CREATE TENSOR X FROM x.npy", 1, 22,
     "expected a file's name, as in FROM 'x.npy', but found 'x'"},
    {"CREATE TENSOR X FROM \"x.npy\"", 1, 22, "strings are written with '"},
    {"CREATE TENSOR X VIRTUAL", 1, 24, "a virtual tensor needs its sizes"},
    {"CREATE TENSOR X FROM 'f' AS A", 1, 30, "the tensor 'X' has several origins"},
    {"CREATE TENSOR X AS SELECT 1", 1, 20,
     "from a query, make a table: CREATE TABLE ... AS SELECT"},
    {"CREATE TENSOR X AS A WITH (a = 1)", 1, 34, "FROM 'file' is missing"},
    {"CREATE TENSOR X [2] TILE [1] TILE [1] VIRTUAL", 1, 30, "'TILE' is said twice"},
    {"CREATE TENSOR X [2] PARTITION BY (8) VIRTUAL", 1, 35, "dimensions are counted from 0 to 7"},
    // The others
    {"INSERT t VALUES (1)", 1, 8, "expected INTO after INSERT, but found 't'"},
    {"INSERT INTO t 5", 1, 15, "expected VALUES or a query, but found the number 5"},
    {"COPY t 'f'", 1, 8, "expected FROM or TO and a file's name, but found the string 'f'"},
    {"COPY (SELECT 1) FROM 'f'", 1, 17, "a file is copied into a table, not into a query"},
    {"COPY t TO 'f' WITH (a = 1, A = 2)", 1, 28, "the option 'a' is given twice"},
    {"DROP JOB 3", 1, 10, "expected the name of a job, as SHOW JOBS gives it, but found"},
    {"SELECT a ? b", 1, 10, "expected"},
    {"SELECT ?", 1, 8, "a value has to be given for each ?, and there is none"},
    {"DROP t", 1, 6, "expected TABLE, TENSOR or VIEW after DROP, but found 't'"},
    {"DROP TABLE IF t", 1, 15, "expected EXISTS after IF, but found 't'"},
    {"ALTER TABLE t ADD a INT", 1, 15,
     "expected RENAME TO and a new name, which is all that ALTER"},
    {"SHOW TABELS", 1, 6, "there is no SHOW TABELS; do you mean TABLES?"},
    {"SHOW everything", 1, 6,
     "expected TABLES, TENSORS, VIEWS, FUNCTIONS, SETTINGS, HISTORY or JOBS"},
    {"SET threads 4", 1, 13, "expected = or TO and a value, but found the number 4"},
    {"SET memory_limit = 2GB", 1, 20, "a size with a unit is a string"},
    {"EXPLAIN EXPLAIN SELECT 1", 1, 9, "EXPLAIN cannot itself be explained"},
    {"EXPLAIN (SITES 10", 1, 18, "expected ',' or ')' after an option, but the text ends"},
    {"EXPLAIN", 1, 8, "expected a statement, such as SELECT or CREATE, but the text ends"},
    {"EXECUTE SELECT 1", 1, 9, "expected '(' and statements after EXECUTE, but found 'SELECT'"},
    {"EXECUTE ()", 1, 10, "expected a query, MATERIALIZE or FOR, but found ')'"},
    {"EXECUTE (DROP TABLE t)", 1, 10, "expected a query, MATERIALIZE or FOR, but found 'DROP'"},
    {"EXECUTE (FOR i IN 5: SELECT 1)", 1, 20, "expected '...' between the ends of the range"},
    {"EXECUTE (FOR i IN 0...5 SELECT 1)", 1, 25, "expected ':' before what the loop repeats"},
    {"EXECUTE (\n  FOR i IN 0...5:\n    SELECT i FROM t[i)", 3, 22, "or ']' after the index"},
    {"EXECUTE (SELECT 1", 1, 18, "expected ';' and another statement, or ')'"},
    // Columns are characters
    {"SELECT 'größe', größe größe größe", 1, 29, "but found 'größe'"},
    {"-- größe\nSELECT \"größe\" %", 2, 17, "expected an expression, but the text ends"},
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
