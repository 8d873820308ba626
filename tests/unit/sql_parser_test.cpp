#include <gtest/gtest.h>

#include "lang/sql/parser.h"
#include "support/sql_trees.h"

namespace tessera::sql {
namespace {

std::string expression(std::string_view text) { return tree(*parse_expression(text)); }
std::string query(std::string_view text) { return tree(*parse_query(text)); }

TEST(SqlExpressions, OperatorsBindAsInArithmeticAndLogic) {
  EXPECT_EQ(expression("a + b * c - d"), "(- (+ a (* b c)) d)");
  EXPECT_EQ(expression("a * b @ c / d % e"), "(% (/ (@ (* a b) c) d) e)");
  EXPECT_EQ(expression("-a * b"), "(* (minus a) b)");
  EXPECT_EQ(expression("a - -b"), "(- a (minus b))");
  EXPECT_EQ(expression("+a"), "a");
  EXPECT_EQ(expression("a OR b AND NOT c = d + 1"), "(or a (and b (not (= c (+ d 1)))))");
  EXPECT_EQ(expression("NOT NOT a AND b"), "(and (not (not a)) b)");
  EXPECT_EQ(expression("a < b + 1 AND c >= d"), "(and (< a (+ b 1)) (>= c d))");
  EXPECT_EQ(expression("(a + b) * c"), "(* (+ a b) c)");
  EXPECT_EQ(expression("(a < b) = c"), "(= (< a b) c)");
}

TEST(SqlExpressions, SpellingsOfComparisons) {
  EXPECT_EQ(expression("a == b"), "(= a b)");
  EXPECT_EQ(expression("a != b"), "(<> a b)");
  EXPECT_EQ(expression("a <> b"), "(<> a b)");
  EXPECT_EQ(expression("a<-1"), "(< a (minus 1))");
  EXPECT_EQ(expression("a<-b+c"), "(< a (+ (minus b) c))");
}

TEST(SqlExpressions, Predicates) {
  EXPECT_EQ(expression("a + 1 IN (1, b)"), "(in (+ a 1) [1 b])");
  EXPECT_EQ(expression("a NOT IN (1)"), "(not-in a [1])");
  EXPECT_EQ(expression("a BETWEEN 1 AND 2 + 3 AND b"), "(and (between a 1 (+ 2 3)) b)");
  EXPECT_EQ(expression("NOT a NOT BETWEEN 1 AND 2"), "(not (not-between a 1 2))");
  EXPECT_EQ(expression("a IS NULL OR b IS NOT NULL"), "(or (is-null a) (is-not-null b))");
}

TEST(SqlExpressions, LiteralsAndNames) {
  EXPECT_EQ(expression("NULL"), "null");
  EXPECT_EQ(expression("true = FALSE"), "(= true false)");
  EXPECT_EQ(expression("1.50"), "1.5");
  EXPECT_EQ(expression("1e0"), "1.0");
  EXPECT_EQ(expression("'it''s'"), "'it%27s'");
  EXPECT_EQ(expression("\"Order\".\"a.b\""), "Order.a%2eb");
  EXPECT_EQ(expression("[1, 2]"), "(array [1 2])");
  EXPECT_EQ(expression("[[1, 2], [3, 4]]"), "(array [(array [1 2]) (array [3 4])])");
  EXPECT_EQ(expression("[]"), "(array [])");
}

TEST(SqlExpressions, FewWordsAreReserved) {
  for (const char* name : {"ROW",  "COL",    "VAL",   "MAT",  "VEC",    "ACT",     "ERR",   "DO",
                           "tile", "format", "sites", "int",  "matrix", "virtual", "T",     "of",
                           "key",  "values", "table", "set",  "offset", "left",    "inner", "for",
                           "by",   "all",    "date",  "cast", "first",  "explain", "index", "row"})
    EXPECT_EQ(expression(name), name);
}

TEST(SqlExpressions, CallsTakeArgumentsThenParameters) {
  EXPECT_EQ(expression("relu(a)"), "(call relu a)");
  EXPECT_EQ(expression("SUM (matmul(A.ACT, W.MAT))"), "(call SUM (call matmul A.ACT W.MAT))");
  EXPECT_EQ(expression("pi()"), "(call pi)");
  EXPECT_EQ(expression("COUNT(*)"), "(call COUNT star)");
  EXPECT_EQ(expression("SUM(DISTINCT x)"), "(call SUM distinct x)");
  EXPECT_EQ(expression("f(a, axes=[0,1], \"order\" = b)"),
            "(call f a (:axes (array [0 1])) (:order b))");
}

TEST(SqlExpressions, AnEqualSignInACallIsThatOfAParameterUnlessItIsAnAggregate) {
  EXPECT_EQ(expression("f(a = b)"), "(call f (:a b))");
  EXPECT_EQ(expression("f(a == b)"), "(call f (= a b))");
  EXPECT_EQ(expression("f((a = b))"), "(call f (= a b))");
  EXPECT_EQ(expression("f(t.a = b)"), "(call f (= t.a b))");
  EXPECT_EQ(expression("f(a + 1 = b)"), "(call f (= (+ a 1) b))");
  EXPECT_EQ(expression("sum(a = b)"), "(call sum (= a b))");
  EXPECT_EQ(expression("f(a = b = c)"), "(call f (:a (= b c)))");
}

TEST(SqlExpressions, CaseAndCast) {
  EXPECT_EQ(expression("CASE WHEN a THEN 1 WHEN b THEN 2 ELSE 3 END"),
            "(case - (when a 1) (when b 2) 3)");
  EXPECT_EQ(expression("CASE a + 1 WHEN 1 THEN 2 END"), "(case (+ a 1) (when 1 2) -)");
  EXPECT_EQ(expression("CAST(a AS BIGINT)"), "(cast a bigint)");
  EXPECT_EQ(expression("-a::INT"), "(minus (cast a int))");
  EXPECT_EQ(expression("\"cast\"(a)"), "(call cast a)");
}

TEST(SqlExpressions, TransposesAndVersions) {
  EXPECT_EQ(expression("(A @ B).T"), "(transpose (@ A B))");
  EXPECT_EQ(expression("f(A).t @ B"), "(@ (transpose (call f A)) B)");
  EXPECT_EQ(expression("A.T"), "A.T");
  EXPECT_EQ(expression("(A).T"), "(transpose A)");
  EXPECT_EQ(expression("-(A).T"), "(minus (transpose A))");
  EXPECT_EQ(expression("W[i][j-1] @ X[0].T"),
            "(@ (version W [i (- j 1)]) (transpose (version X [0])))");
}

TEST(SqlExpressions, Subqueries) {
  EXPECT_EQ(expression("(SELECT 1) + 2"), "(+ (subquery (select 1)) 2)");
  EXPECT_EQ(expression("((SELECT 1) + 2)"), "(+ (subquery (select 1)) 2)");
  EXPECT_EQ(expression("(((SELECT 1)))"), "(subquery (select 1))");
  EXPECT_EQ(expression("((SELECT 1) UNION SELECT 2)"), "(subquery (union (select 1) (select 2)))");
  EXPECT_EQ(expression("((SELECT 1 LIMIT 1) UNION ALL (SELECT 2) LIMIT 3)"),
            "(subquery (query (union-all (query (select 1) (limit 1)) (select 2)) (limit 3)))");
  EXPECT_EQ(expression("f((SELECT 1))"), "(call f (subquery (select 1)))");
}

TEST(SqlTypes, InAllSpellings) {
  const std::pair<const char*, const char*> all[] = {
      {"int", "int"},
      {"INTEGER", "int"},
      {"BIGINT", "bigint"},
      {"FLOAT", "float"},
      {"REAL", "float"},
      {"DOUBLE", "double"},
      {"DOUBLE PRECISION", "double"},
      {"BOOLEAN", "bool"},
      {"BOOL", "bool"},
      {"TEXT", "text"},
      {"VARCHAR", "text"},
      {"VARCHAR(20)", "text"},
      {"VECTOR[3]", "(tensor f64 [3])"},
      {"MATRIX[2][3] OF FLOAT", "(tensor f32 [2 3])"},
      {"matrix(1000, 1000)", "(tensor f64 [1000 1000])"},
      {"vector (7) of bigint", "(tensor i64 [7])"},
      {"TENSOR[1][2][3] OF BOOLEAN", "(tensor bool [1 2 3])"},
      {"TENSOR[5] OF DOUBLE PRECISION", "(tensor f64 [5])"},
      {"TENSOR[]", "(tensor f64 [])"},
  };
  for (const auto& [text, type] : all)
    EXPECT_EQ(expression(std::string("x::") + text), std::string("(cast x ") + type + ")") << text;
}

TEST(SqlQueries, ClausesOfASelect) {
  EXPECT_EQ(query("SELECT DISTINCT a, b AS c, t.*, * FROM t WHERE a GROUP BY a, b HAVING c "
                  "ORDER BY a DESC, b ASC, c LIMIT 5 OFFSET 2"),
            "(query (select-distinct a (as b c) t.* * (from t) (where a) (group [a b]) (having c)) "
            "(descending a) (ascending b) (ascending c) (limit 5) (offset 2))");
  EXPECT_EQ(query("SELECT 1 OFFSET 2 LIMIT 5"), "(query (select 1) (limit 5) (offset 2))");
}

TEST(SqlQueries, TablesAndTheirAliases) {
  EXPECT_EQ(query("SELECT * FROM a, b x, c AS \"on\"(p, q)"),
            "(select * (from a) (from b (as x [])) (from c (as on [p q])))");
  EXPECT_EQ(query("SELECT * FROM a JOIN b ON a.x = b.x INNER JOIN c ON d CROSS JOIN e, f"),
            "(select * (from a) (from b (on (= a.x b.x))) (from c (on d)) (from e) (from f))");
  EXPECT_EQ(query("SELECT * FROM (SELECT 1) AS t, (VALUES (1, 2)) AS u(a, b)"),
            "(select * (from (select 1) (as t [])) (from (values [1 2]) (as u [a b])))");
  EXPECT_EQ(query("SELECT val FROM VALUES (1)"), "(select val (from (values [1])))");
  EXPECT_EQ(query("SELECT * FROM VALUES (1), (2) AS t, (SELECT 3) u"),
            "(select * (from (values [1] [2]) (as t [])) (from (select 3) (as u [])))");
  EXPECT_EQ(query("SELECT * FROM values, DATA_OUTPUT AS DO"),
            "(select * (from values) (from DATA_OUTPUT (as DO [])))");
}

TEST(SqlQueries, VersionsOfTables) {
  EXPECT_EQ(query("SELECT * FROM W[i][j-1] AS w"),
            "(select * (from (version W [i (- j 1)]) (as w [])))");
  EXPECT_EQ(query("SELECT * FROM UNION t[i-2...i-1]"),
            "(select * (from (versions t [(range  (- i 2) (- i 1))])))");
  EXPECT_EQ(query("SELECT * FROM UNION t[i:0...50][0...i][7] AS u"),
            "(select * (from (versions t [(range i 0 50) (range  0 i) 7]) (as u [])))");
}

TEST(SqlQueries, UnionsAndCommonTables) {
  EXPECT_EQ(query("SELECT 1 UNION SELECT 2 UNION ALL VALUES (3), (4) ORDER BY 1"),
            "(query (union-all (union (select 1) (select 2)) (values [3] [4])) (ascending 1))");
  EXPECT_EQ(query("SELECT 1 UNION (SELECT 2 UNION SELECT 3)"),
            "(union (select 1) (union (select 2) (select 3)))");
  EXPECT_EQ(query("SELECT a FROM t UNION SELECT b FROM UNION u[0]"),
            "(union (select a (from t)) (select b (from (versions u [0]))))");
  EXPECT_EQ(query("WITH a AS (SELECT 1), b(x, y) AS (VALUES (1, 2)) SELECT * FROM a, b"),
            "(query (with a [] (select 1)) (with b [x y] (values [1 2])) "
            "(select * (from a) (from b)))");
  EXPECT_EQ(query("((SELECT 1))"), "(select 1)");
}

TEST(SqlParser, StatementsAreSeparatedBySemicolons) {
  const std::string text = " ;; SELECT 1 ; -- one\n CHECKPOINT;\n";
  const auto all = parse(text);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(text.substr(all[0]->begin.offset, all[0]->end.offset - all[0]->begin.offset),
            "SELECT 1");
  EXPECT_EQ(text.substr(all[1]->begin.offset, all[1]->end.offset - all[1]->begin.offset),
            "CHECKPOINT");
  EXPECT_TRUE(parse("").empty());
  EXPECT_TRUE(parse(" -- nothing").empty());
}

TEST(SqlParser, OperatorsStandWhereTheyAreWrittenAndTheRestWhereItBegins) {
  const ExpressionPtr sum = parse_expression("aa + (b).T");
  EXPECT_EQ(sum->location.offset, 3);
  const auto& parts = std::get<Binary>(sum->node);
  EXPECT_EQ(parts.left->location.offset, 0);
  EXPECT_EQ(parts.right->location.offset, 8);  // the dot
  EXPECT_EQ(parse_expression("  f(x)")->location.offset, 2);
  EXPECT_EQ(parse_expression("a IS NULL")->location.offset, 2);
  EXPECT_EQ(parse_expression("a::INT")->location.offset, 1);
}

TEST(SqlParser, ManyRowsAndLongListsAreNoNesting) {
  std::string text = "INSERT INTO t VALUES (1 + 2, -3)";
  for (int i = 0; i < 5000; ++i) text += ", (1 + 2, -3)";
  EXPECT_EQ(parse(text).size(), 1U);
  std::string sum = "1";
  for (int i = 0; i < 1000; ++i) sum += " + 1";
  EXPECT_NO_THROW(parse_expression(sum));
  EXPECT_THROW(parse_expression(sum + " + 1"), lang::ErrorAt);
  EXPECT_NO_THROW(parse_expression("f(" + sum + ", " + sum + ")"));
}

TEST(SqlParser, NestingIsLimitedSoThatNothingOverflows) {
  const std::pair<const char*, const char*> all[] = {
      {"SELECT ", "("},
      {"SELECT ", "- "},
      {"SELECT ", "NOT "},
      {"SELECT ", "f("},
      {"SELECT ", "["},
      {"SELECT ", "CASE "},
      {"SELECT ", "CASE WHEN "},
      {"SELECT ", "a + ("},
      {"SELECT ", "(SELECT "},
      {"SELECT ", "W["},
      {"SELECT ", "x IN ("},
      {"SELECT ", "CAST("},
      {"", "("},
      {"SELECT * FROM ", "("},
      {"", "SELECT * FROM ("},
      {"", "WITH a AS ("},
      {"EXECUTE (", "FOR i IN 0...1: "},
      {"EXECUTE (", "FOR i IN 0...1: ("},
      {"SELECT a", " .T"},
      {"SELECT a", "::INT"},
      {"SELECT a", " + a"},
      {"SELECT a", " OR a"},
      {"SELECT 1", " UNION SELECT 1"},
      {"SELECT * FROM t", "[t"},
      {"VALUES ", "(("},
      {"COPY ", "("},
      {"SELECT a", " OR NOT b = -(a"},
  };
  for (const auto& [before, repeated] : all) {
    std::string text = before;
    for (int i = 0; i < 20000; ++i) text += repeated;
    try {
      (void)parse(text);
      ADD_FAILURE() << before << repeated << " was read";
    } catch (const lang::ErrorAt& error) {
      const std::string message = error.what();
      EXPECT_TRUE(message.find("nested more than 250 levels deep") != std::string::npos ||
                  message.find("more than 1000 operations in a row") != std::string::npos ||
                  message.find("more than 1000 UNIONs in a row; group them with parentheses") !=
                      std::string::npos)
          << before << repeated << ": " << message;
    }
  }
}

TEST(SqlParser, ChainsInsideOfChainsCountTogether) {
  std::string text = "1";
  for (int level = 0; level < 20; ++level) {
    text = "(" + text + ")";
    for (int i = 0; i < 100; ++i) text += " + 1";
  }
  EXPECT_THROW(parse_expression(text), lang::ErrorAt);
  std::string queries = "SELECT 1";
  for (int level = 0; level < 20; ++level) {
    queries = "(" + queries + ")";
    for (int i = 0; i < 100; ++i) queries += " UNION SELECT 1";
  }
  EXPECT_THROW(parse_query(queries), lang::ErrorAt);
}

}  // namespace
}  // namespace tessera::sql
