#include <gtest/gtest.h>

#include <algorithm>

#include "support/random_queries.h"
#include "tessera/session.h"
#include "tra/plan_node.h"

// What a statement is lowered to has nothing in it that changes nothing: before any pass of the
// optimizer, no kernel hands a tile on, and no operator yields just what it reads.

namespace tessera::testing {
namespace {

bool calls_identity(const std::vector<Apply>& projection) {
  static const KernelCall identity("identity");
  return std::any_of(projection.begin(), projection.end(),
                     [](const Apply& apply) { return apply.kernel == identity; });
}

/// Whether a projection yields all columns as they are, in their order.
bool keeps_all(const std::vector<Apply>& projection, std::size_t columns) {
  bool keeps = projection.size() == columns;
  for (std::size_t c = 0; keeps && c < columns; ++c)
    keeps = !projection[c].kernel && projection[c].columns == std::vector{static_cast<int>(c)};
  return keeps;
}

bool changes_nothing(const Plan& plan) {
  const Operator& op = operator_of(plan);
  if (const auto* join = std::get_if<op::Join>(&op)) return calls_identity(join->projection);
  if (const auto* transform = std::get_if<op::Transform>(&op))
    return calls_identity(transform->projection) ||
           keeps_all(transform->projection, transform->input.type().columns.size());
  if (const auto* rekey = std::get_if<op::ReKey>(&op)) {
    const std::vector<KeyExpr>& keys = rekey->function.components();
    bool same = std::cmp_equal(keys.size(), rekey->input.type().arity());
    for (std::size_t d = 0; same && d < keys.size(); ++d)
      same = equal(keys[d], key(static_cast<int>(d)));
    return same;
  }
  return false;
}

/// Runs statements as they were lowered, and looks at every operator that they run.
class Lowered {
 public:
  Lowered() : session_(Database::temporary(), options()) {}

  void run(const std::string& statement) {
    session_.run_options().ended = [&](const RunRecord& record) {
      for (const ia::Plan& plan : record.plans) look_at(plan, statement);
    };
    session_.execute(statement);
  }
  int operators() const { return operators_; }

 private:
  static SessionOptions options() {
    SessionOptions options;
    options.run.optimize = false;
    return options;
  }
  void look_at(const ia::Plan& plan, const std::string& statement) {
    for (const Plan& node : in_order(plan.logical())) {
      ++operators_;
      EXPECT_FALSE(changes_nothing(node)) << describe(operator_of(node)) << "\nof\n" << statement;
    }
  }

  Session session_;
  int operators_ = 0;
};

TEST(Lowering, WhatChangesNothingIsFound) {
  const Plan a = Plan::input(RelationType{{{"", {DType::f64, {2}}}, {"", {DType::f64, {2}}}}, {3}});
  for (const Plan& idle :
       {a.transform({Apply::column(0), Apply::column(1)}),
        a.transform({Apply::column(1), Apply("identity", {0})}),
        a.join(a, {0}, {0}, {Apply("identity", {2})}), a.rekey(KeyFunction({key(0)}))})
    EXPECT_TRUE(changes_nothing(idle)) << describe(operator_of(idle));
  for (const Plan& busy :
       {a, a.transform({Apply::column(1), Apply::column(0)}), a.transform(Apply::column(0)),
        a.join(a, {0}, {0}, Apply::column(0)), a.rekey(KeyFunction({key(0) + 1}))})
    EXPECT_FALSE(changes_nothing(busy)) << describe(operator_of(busy));
}

TEST(Lowering, OfStatementsOfAllKindsAddsNothingThatChangesNothing) {
  Lowered lowered;
  lowered.run(
      "CREATE TABLE A (i INT, k INT, tile MATRIX[2][2], x DOUBLE);"
      "CREATE TABLE B (i INT, y DOUBLE, z DOUBLE);"
      "INSERT INTO A VALUES (0, 0, [[2, 1], [1, 2]], 1), (0, 1, [[3, 1], [1, 3]], 2);"
      "INSERT INTO B VALUES (0, 0.5, 1.5), (1, 2.5, 3.5);"
      "CREATE TENSOR X TILE [2][2] AS [[4, 1, 0], [1, 4, 1], [0, 1, 4]];"
      "CREATE TABLE v[0] AS SELECT 0 AS k, [[1, 2], [3, 4]] AS m;"
      "CREATE TABLE v[n:1...] AS SELECT k, m + 1 AS m FROM v[n-1]");
  for (const char* statement : {
           "SELECT i, tile FROM A",
           "SELECT x, tile FROM A",
           "SELECT x, x, tile FROM A",
           "SELECT tile, tile + 1 AS more FROM A",
           "SELECT x, x + x * 2 AS z, tile FROM A",
           "SELECT i + x AS z FROM A",
           "SELECT 1.5 AS c, x, i * 2 AS j FROM A",
           "SELECT SUM(x), AVG(x), MAX(x), SUM(x), COUNT(*) FROM A",
           "SELECT i, SUM(tile), MAX(k), SUM(x + k) FROM A GROUP BY i",
           "SELECT a.i, b.i AS j, SUM(matmul(a.tile, b.tile)) AS m FROM A AS a, A AS b "
           "WHERE a.k = b.k GROUP BY a.i, b.i",
           "SELECT a.tile, b.tile FROM A AS a, A AS b WHERE a.k = b.i AND a.i < b.k",
           "SELECT a.i, b.k FROM A AS a, A AS b WHERE a.k = b.i",
           "SELECT inverse(a.tile) AS m, a.i + b.x AS z FROM A AS a, A AS b WHERE a.i = b.i AND "
           "a.k <= b.k",
           "SELECT y, z, y * z + i AS w FROM B",
           "SELECT tile FROM A WHERE k = 1",
           "CREATE TABLE c AS SELECT k, tile FROM A",
           "CREATE TABLE d AS SELECT k - i AS n, x FROM A",
           "CREATE TENSOR Y1 AS X @ X + X",
           "CREATE TENSOR Y2 AS solve(X, X)",
           "CREATE TENSOR Y3 AS inverse(X) @ X",
           "CREATE TENSOR Y4 AS softmax(X)",
           "CREATE TENSOR Y5 AS transpose(X)",
           "SELECT m FROM v[5]",
           "MATERIALIZE v[3]",
       })
    lowered.run(statement);
  EXPECT_GT(lowered.operators(), 60);
}

TEST(Lowering, OfRandomQueriesAddsNothingThatChangesNothing) {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    std::mt19937 chance(seed);
    Lowered lowered;
    lowered.run(tables_for_random_queries(chance, 1));
    for (int i = 0; i < 100; ++i) {
      try {
        lowered.run(random_query(chance));
      } catch (const StatementError&) {
        // Some are refused, and were lowered as far as that.
      }
    }
    EXPECT_GT(lowered.operators(), 100);
  }
}

}  // namespace
}  // namespace tessera::testing
