#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support/printed_sql.h"
#include "support/tiled_matrix.h"

// Jankov et al., "Distributed Numerical and Machine Learning Computations via Two-Phase Execution
// of Aggregated Join Trees" (2021): the SQL of sections 1 and 2.1.

namespace tessera::testing {
namespace {

/// Extents of tiles that divide those of the matrices, and such that do not.
const int tile_extents[] = {3, 4, 5};

std::string explained(Session& session, const std::string& statement) {
  const ResultTable lines = session.query("EXPLAIN " + statement);
  std::string text;
  for (std::int64_t i = 0; i < lines.rows(); ++i) text += lines.text(i, 0) + "\n";
  return text;
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(JoinTrees, AProductOfTiledMatrices) {
  for (const int extent : tile_extents) {
    const Matrix a = made(12, 9, 1), b = made(9, 15, 2);
    const auto rows = cuts_every(extent, 12), inner = cuts_every(extent, 9),
               columns = cuts_every(extent, 15);
    Session session(Database::temporary());
    session.execute(table_of_tiles("A", a, rows, inner) + table_of_tiles("B", b, inner, columns));
    expect_near(put_together(session.query(printed::matrix_product), rows, columns), product(a, b),
                1e-12, fmt::format("tiles of {}", extent));
  }
}

TEST(JoinTrees, TheDoubleDotProduct) {
  for (const int extent : tile_extents) {
    const Matrix a = made(12, 10, 3), b = made(12, 10, 4);
    const auto rows = cuts_every(extent, 12), columns = cuts_every(extent, 10);
    Session session(Database::temporary());
    session.execute(table_of_tiles("A", a, rows, columns) + table_of_tiles("B", b, rows, columns));
    double expected = 0;
    for (std::size_t r = 0; r < a.size(); ++r)
      for (std::size_t c = 0; c < a[0].size(); ++c) expected += a[r][c] * b[r][c];
    const ResultTable found = session.query(printed::double_dot_product);
    ASSERT_EQ(found.rows(), 1);
    EXPECT_NEAR(std::get<double>(found.at(0, 0)), expected, 1e-12) << "tiles of " << extent;
  }
}

// Section 2.1 describes this query but does not print it: the update of the weights of a layer and
// the activations of the next iteration, a join of three tables that is aggregated.
constexpr const char* update_and_activate = R"(
SELECT X.tileRow, W.tileCol,
       relu(SUM(matrix_multiply(X.mat, W.mat - grad_W.mat * 0.25)))
FROM {}
WHERE W.tileRow = grad_W.tileRow AND W.tileCol = grad_W.tileCol AND X.tileCol = W.tileRow
GROUP BY X.tileRow, W.tileCol
)";

TEST(JoinTrees, WeightsTheirGradientAndTheInput) {
  for (const int extent : tile_extents) {
    const Matrix x = made(8, 12, 5), w = made(12, 9, 6), gradient = made(12, 9, 7);
    const auto batch = cuts_every(extent, 8), inputs = cuts_every(extent, 12),
               neurons = cuts_every(extent, 9);
    Session session(Database::temporary());
    session.execute(table_of_tiles("X", x, batch, inputs) +
                    table_of_tiles("W", w, inputs, neurons) +
                    table_of_tiles("grad_W", gradient, inputs, neurons));
    Matrix learned = w;
    for (std::size_t r = 0; r < w.size(); ++r)
      for (std::size_t c = 0; c < w[0].size(); ++c) learned[r][c] -= gradient[r][c] * 0.25;
    Matrix expected = product(x, learned);
    for (auto& row : expected)
      for (double& value : row) value = std::max(value, 0.0);
    // Whatever the order in which the tables are named.
    for (const char* from : {"W, grad_W, X", "X, grad_W, W", "grad_W, X, W", "X, W, grad_W"}) {
      const std::string query = fmt::format(fmt::runtime(update_and_activate), from);
      expect_near(put_together(session.query(query), batch, neurons), expected, 1e-12,
                  fmt::format("tiles of {}, FROM {}", extent, from));
    }
  }
}

TEST(JoinTrees, ThePlanOfThreeTables) {
  Session session(Database::temporary());
  const auto cuts = cuts_every(2, 8);
  for (const char* name : {"X", "W", "grad_W"})
    session.execute(table_of_tiles(name, made(8, 8, 8), cuts, cuts));
  for (const char* from : {"W, grad_W, X", "X, grad_W, W", "grad_W, X, W", "X, W, grad_W"}) {
    const std::string plan =
        explained(session, fmt::format(fmt::runtime(update_and_activate), from));
    SCOPED_TRACE(plan);
    // One plan, in which nothing looks at rows: weights are updated once each, whatever they are
    // multiplied with, and the products are added up.
    EXPECT_EQ(count(plan, "row by row"), 0);
    EXPECT_EQ(count(plan, "Aggregate by <"), 1);
    EXPECT_EQ(count(plan, "Join <"), 2);
    EXPECT_EQ(count(plan, "Join <0, 1> = <0, 1> with sub"), 1);
    EXPECT_EQ(count(plan, "with matmul"), 1);
    // 64 elements are scaled and subtracted, 64 products of 2x2 are added up as they are made, 64
    // elements rectified.
    EXPECT_EQ(count(plan, fmt::format(", {} flops", 64 + 64 + 64 * 16 + 64)), 1);
  }
}

}  // namespace
}  // namespace tessera::testing
