// Statistics of parts that were counted apart and brought together.

#include "tra/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera {
namespace {

void expect_same(const Statistics& found, const Statistics& expected) {
  EXPECT_EQ(found.tuples, expected.tuples);
  EXPECT_EQ(found.nonzeros, expected.nonzeros);
  EXPECT_TRUE(found.min == expected.min || (std::isnan(found.min) && std::isnan(expected.min)));
  EXPECT_TRUE(found.max == expected.max || (std::isnan(found.max) && std::isnan(expected.max)));
  EXPECT_EQ(found.distinct, expected.distinct);
}

TEST(Statistics, PartsBroughtTogetherAreThoseOfTheWhole) {
  const Tile nan = Tile::full(DType::f64, {2, 2}, std::nan(""));
  for (const bool with_nan : {false, true})
    for (const Presence presence : {Presence::continuous, Presence::sparse})
      for (const std::size_t parts : {1, 2, 3, 50}) {
        Tile tensor = random_sparse({DType::f64, {20, 14}, 2}, 3, 0.05);
        const Relation relation = Relation::from_tensor(tensor, {2, 2}, presence);
        std::vector<StatisticsBuilder> counted(parts);
        StatisticsBuilder all, whole;
        for (std::size_t i = 0; i < relation.tuples().size(); ++i) {
          const Tuple& tuple = relation.tuples()[i];
          const std::vector<Tile> tiles = with_nan && i == 5 ? std::vector<Tile>{nan} : tuple.tiles;
          counted[i % parts].add(tuple.key, tiles);
          all.add(tuple.key, tiles);
        }
        for (const StatisticsBuilder& part : counted) whole.add(part.to_numbers());
        expect_same(whole.finish(relation.type()), all.finish(relation.type()));
      }
}

}  // namespace
}  // namespace tessera
