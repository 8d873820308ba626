#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/network.h"
#include "tessera/session.h"

// Jankov et al., "Declarative Recursive Computation on an RDBMS" (2019): the SQL of section 3.2.

namespace tessera::testing {
namespace {

/// The weights of a layer, put together of the tiles that SQL yields.
Matrix weights_in(const ResultTable& table, const Network& network, int layer) {
  const std::vector<int> rows = cuts(network, layer - 1), columns = cuts(network, layer);
  Matrix all(network.sizes[layer - 1], std::vector<double>(network.sizes[layer], NAN));
  EXPECT_EQ(table.rows(), static_cast<std::int64_t>((rows.size() - 1) * (columns.size() - 1)));
  for (std::int64_t t = 0; t < table.rows(); ++t) {
    const auto row = std::get<std::int64_t>(table.at(t, 0));
    const auto column = std::get<std::int64_t>(table.at(t, 1));
    const Tile tile = std::get<Tile>(table.at(t, 2));
    for (std::int64_t r = 0; r < tile.shape()[0]; ++r)
      for (std::int64_t c = 0; c < tile.shape()[1]; ++c)
        all[rows[row] + r][columns[column] + c] = tile.at<double>({r, c});
  }
  return all;
}

void expect_trained(const Network& network, int iterations) {
  Session session(Database::temporary());
  session.execute(data_statements(network));
  session.execute(pass_statements(network));
  const Weights expected = trained(network, iterations);
  const std::vector<StatementResult> results =
      session.execute(fmt::format("EXECUTE (FOR j IN 1...{}: SELECT ROW, COL, MAT FROM W[{}][j])",
                                  network.layers(), iterations));
  ASSERT_EQ(results.size(), static_cast<std::size_t>(network.layers()) + 1);
  for (int layer = 1; layer <= network.layers(); ++layer) {
    const Matrix found = weights_in(*results[layer - 1].table, network, layer);
    for (std::size_t r = 0; r < found.size(); ++r)
      for (std::size_t c = 0; c < found[0].size(); ++c)
        ASSERT_NEAR(found[r][c], expected.w[layer][r][c], 1e-5)
            << "layer " << layer << ", weight " << r << ", " << c;
  }
}

TEST(RecursiveSql, NineLayersLearnAsPlainLoopsDo) {
  // Tiles that divide the layers, and tiles that do not.
  for (const int tile : {2, 3, 8}) {
    Network network{{6, 8, 4, 6, 8, 6, 4, 6, 8, 3}, 5, tile, 0.05};
    expect_trained(network, 5);
  }
}

TEST(RecursiveSql, TheRateOfThePaper) { expect_trained({{6, 8, 4, 6, 8, 6, 4, 6, 8, 3}, 5, 4}, 5); }

}  // namespace
}  // namespace tessera::testing
