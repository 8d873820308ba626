#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/network.h"
#include "tessera/session.h"

// Jankov et al., "Declarative Recursive Computation on an RDBMS" (2019): the SQL of section 3.2.

namespace tessera::testing {
namespace {

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
    const Matrix found =
        put_together(*results[layer - 1].table, cuts(network, layer - 1), cuts(network, layer));
    expect_near(found, expected.w[layer], 1e-11, fmt::format("layer {}", layer));
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
