#include "fuzz/sql_seeds.h"

namespace tessera::sql {

const std::vector<std::string_view>& statement_seeds() {
  static const std::vector<std::string_view> seeds = {
      "SELECT A.tileRow, B.tileCol, SUM(matrix_multiply(A.mat, B.mat)) FROM A, B "
      "WHERE A.tileCol = B.tileRow GROUP BY A.tileRow, B.tileCol",
      "SELECT DISTINCT a, t.*, b AS c FROM t JOIN u ON t.x = u.x CROSS JOIN v, (SELECT 1) AS w(x) "
      "WHERE a BETWEEN 1 AND 2 AND b NOT IN (1, 2, 3) OR c IS NOT NULL GROUP BY a, b HAVING "
      "COUNT(*) > 1 ORDER BY a DESC, b LIMIT 10 OFFSET 5",
      "WITH a AS (SELECT 1), b(x, y) AS (VALUES (1, 2), (3, 4)) SELECT * FROM a, b",
      "SELECT 1 UNION ALL (SELECT 2 LIMIT 1) UNION SELECT 3 ORDER BY 1",
      "SELECT CASE x WHEN 1 THEN 'a' ELSE 'it''s' END, CASE WHEN a < -1.5e-3 THEN NULL END",
      "SELECT CAST(a AS MATRIX[2][3] OF FLOAT), b::DOUBLE PRECISION, SUM(DISTINCT -c), NOT TRUE",
      "SELECT (A @ B).T, W[i][j-1], [[1, 2], [3, 4]], reduce_sum(a, axes = [0, 1], keep = false)",
      "SELECT ((SELECT MAX(x) FROM t) + 1) * 2, ((SELECT 1) UNION SELECT 2)",
      "SELECT val FROM VALUES (1), (2)",
      "SELECT SUM(VAL) FROM UNION Fibonacci[i-2...i-1] AS f, UNION pascalsTri[i:0...50][0...i]",
      "CREATE TABLE A (tileRow INT, tileCol BIGINT, mat MATRIX[20][20], v VECTOR[3] OF BOOLEAN, "
      "l VARCHAR(20), PRIMARY KEY (tileRow, tileCol))",
      "CREATE TABLE IF NOT EXISTS t (a INT PRIMARY KEY, m matrix(10, 10))",
      "CREATE TABLE pascalsTri[i:2...][j:1...i-1] (val) AS SELECT pt1.val + pt2.val AS val "
      "FROM pascalsTri[i-1][j-1] AS pt1, pascalsTri[i-1][j] AS pt2",
      "CREATE TABLE E[i:0...][j:9][0] (COL, ERR) AS SELECT A.COL, crossentropyderiv(A.ACT, DO.VAL) "
      "FROM A[i][j] AS A, DATA_OUTPUT AS DO",
      "CREATE TENSOR X FROM 'x.csv' WITH (format = csv, header = true) TILE [1000][1000]",
      "CREATE TENSOR C AS einsum('ik,kj->ij', A, B)",
      "CREATE TENSOR P [40000][40000] OF FLOAT TILE [4000][4000] PARTITION BY (0) VIRTUAL",
      "CREATE VIEW \"the view\" (a, \"b \"\"c\") AS SELECT größe, 2 FROM t -- a comment",
      "INSERT INTO t (a, b) VALUES (1, 'x'), (2, NULL)",
      "INSERT INTO t SELECT * FROM u /* another */ WHERE a <> b",
      "COPY t FROM 'x.csv' WITH (header true)",
      "COPY (SELECT * FROM t) TO 'y.csv' (format csv)",
      "DROP TENSOR IF EXISTS t",
      "ALTER TABLE a RENAME TO b",
      "DESCRIBE TABLE t",
      "SHOW FUNCTIONS",
      "SET memory_limit = '2 GB'; RESET threads; SET optimizer TO on",
      "CHECKPOINT; VACUUM",
      "MATERIALIZE pascalsTri[50][3]",
      "EXECUTE ( FOR j IN 0...50: SELECT * FROM pascalsTri[50][j] )",
      "EXECUTE (FOR i IN 0...9: FOR j IN 0...i: (MATERIALIZE t[i][j]; SELECT 1); SELECT 2;)",
      "EXPLAIN (FORMAT JSON, SITES 10) CREATE TENSOR Q AS P @ P",
      "EXPLAIN ANALYZE SELECT * FROM t",
  };
  return seeds;
}

const std::vector<std::string_view>& token_seeds() {
  static const std::vector<std::string_view> seeds = {
      "SELECT",   "FROM",    "WHERE",   "GROUP",       "BY",       "HAVING",   "ORDER",    "LIMIT",
      "OFFSET",   "UNION",   "ALL",     "JOIN",        "INNER",    "CROSS",    "LEFT",     "ON",
      "AS",       "AND",     "OR",      "NOT",         "IN",       "BETWEEN",  "IS",       "NULL",
      "TRUE",     "CASE",    "WHEN",    "THEN",        "ELSE",     "END",      "DISTINCT", "WITH",
      "VALUES",   "CREATE",  "TABLE",   "TENSOR",      "VIEW",     "IF",       "EXISTS",   "PRIMARY",
      "KEY",      "INT",     "DOUBLE",  "MATRIX",      "VECTOR",   "OF",       "FLOAT",    "TILE",
      "VIRTUAL",  "INSERT",  "INTO",    "COPY",        "TO",       "DROP",     "ALTER",    "RENAME",
      "DESCRIBE", "SHOW",    "TABLES",  "SET",         "RESET",    "EXECUTE",  "FOR",      "MATERIALIZE",
      "EXPLAIN",  "ANALYZE", "CAST",    "COUNT",       "SUM",      "f",        "a",        "t",
      "i",        "T",       "\"q\"",   "\"a\"\"b\"",  "''",       "'s'",      "'it''s'",  "0",
      "1",        "2.5",     "1e9",     ".5",          "5.",       "9223372036854775807",
      "9223372036854775808", "1e999",   "(",           ")",        "[",        "]",        "{",
      ",",        ";",       ":",       "::",          ".",        "...",      "..",       "+",
      "-",        "*",       "/",       "%",           "@",        "<",        ">",        "=",
      "<=",       ">=",      "<>",      "!=",          "==",       "->",       "<-",       "||",
      "|",        "--",      "\n",      "/*",          "*/",       "'",        "\"",       "größe",
      "\xc3",     "\xff",    "\xe2\x80\xa6", "\xc2\xa0", "\x01",   "$",        "!",        "\xef\xbb\xbf",
      "(((((((((((((((((((((((((((((((((((((((((((", "- - - - - - - - - - - - - -", "a + a + a + a + a",
      "[i:0...]", "[i-1]",   ".T",      "t.*",         "COUNT(*)", "x = 1",    "(SELECT 1)",
  };
  return seeds;
}

}  // namespace tessera::sql
