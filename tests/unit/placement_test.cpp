#include "tessera/placement.h"

#include <gtest/gtest.h>

#include <map>

#include "support/expectations.h"
#include "tra/tuple_operations.h"

namespace tessera {
namespace {

/// How many of the tuples below a frontier each site holds.
std::vector<int> loads(const Placement& placement, const Key& frontier) {
  std::vector<int> loads(static_cast<std::size_t>(placement.sites()), 0);
  Key key(frontier.size(), 0);
  do {
    for (int site : placement.holders(key)) ++loads[site];
  } while (advance(key, frontier));
  return loads;
}

void expect_balanced(const Placement& placement, const Key& frontier, const std::string& what) {
  std::vector<int> all = loads(placement, frontier);
  all.resize(static_cast<std::size_t>(placement.used()));  // a grid may leave sites over
  const auto [least, most] = std::minmax_element(all.begin(), all.end());
  EXPECT_LE(*most - *least, 1) << what << " of " << to_string(frontier);
}

TEST(Placement, AllIsEverywhere) {
  const Placement all = Placement::all(3);
  EXPECT_TRUE(all.is_all());
  EXPECT_TRUE(all.has_copies());
  EXPECT_EQ(all.copies(), 3);
  EXPECT_EQ(all.holders({7}), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(all.to_string(), "ALL");
}

TEST(Placement, TheOnlySiteHoldsEverything) {
  EXPECT_TRUE(Placement::all(1).is_all());
  EXPECT_EQ(Placement::all(1), Placement());
  EXPECT_EQ(Placement::part({0}, {5}, 1), Placement());
  EXPECT_EQ(Placement().holders({3, 4}), std::vector<int>{0});
  EXPECT_EQ(Placement().to_string(), "at one site");
}

TEST(Placement, PartPutsTogetherWhatAgrees) {
  const Placement rows = Placement::part({0}, {4, 4}, 2);
  EXPECT_EQ(rows.to_string(), "PART<0> on 2");
  for (std::int64_t column = 0; column < 4; ++column) {
    EXPECT_EQ(rows.holders({2, column}), std::vector<int>{0});
    EXPECT_EQ(rows.holders({3, column}), std::vector<int>{1});
  }
  EXPECT_TRUE(rows.is_part({0}));
  EXPECT_TRUE(rows.is_part({0, 1}));  // what agrees in both agrees in the first
  EXPECT_FALSE(rows.is_part({1}));
  EXPECT_FALSE(Placement::all(2).is_part({0}));
}

TEST(Placement, SeveralComponentsAreDealtOutTogether) {
  const Placement dealt = Placement::part({0, 1}, {2, 3}, 4);
  EXPECT_EQ(dealt.to_string(), "PART<0+1> on 4");
  // In the order of the keys: <0,0> <0,1> <0,2> <1,0> ...
  EXPECT_EQ(dealt.holders({0, 2}), std::vector<int>{2});
  EXPECT_EQ(dealt.holders({1, 0}), std::vector<int>{3});
  EXPECT_EQ(dealt.holders({1, 1}), std::vector<int>{0});
}

TEST(Placement, KeysAreDealtOutAsFarAsTheyReach) {
  const std::int64_t farthest = (std::int64_t{1} << 62) - 1;
  const Placement dealt = Placement::part({0, 1}, {farthest, farthest}, 7);
  // Neighbours lie side by side, at the far end as at the near one.
  for (const Key& key :
       {Key{0, 0}, Key{farthest - 9, 3}, Key{5, farthest - 9}, Key{farthest - 1, farthest - 9}}) {
    const int site = dealt.holders(key).front();
    for (std::int64_t step = 0; step < 9; ++step)
      EXPECT_EQ(dealt.holders({key[0], key[1] + step}), std::vector<int>{int((site + step) % 7)})
          << to_string(key) << " and " << step;
  }
}

TEST(Placement, NoMoreSitesAreUsedThanThereAreTuples) {
  EXPECT_EQ(Placement::part({0}, {3, 9}, 8).used(), 3);
  EXPECT_EQ(Placement::part({}, {3, 9}, 8).used(), 1);
  EXPECT_EQ(Placement::part({}, {3, 9}, 8).to_string(), "at one site");
}

TEST(Placement, GridsSplitEachComponentOnItsOwn) {
  const Placement grid = Placement::grid({0, 1}, {2, 3}, 7);
  EXPECT_EQ(grid.to_string(), "PART<0, 1> on 2x3");
  EXPECT_EQ(grid.used(), 6);
  EXPECT_EQ(grid.holders({1, 2}), std::vector<int>{5});
  EXPECT_EQ(grid.holders({2, 4}), std::vector<int>{1});
}

TEST(Placement, CopiesAlongAnAxis) {
  const Placement rows({{2, Axis::Kind::split, {{0, 1, 1}}}, {3, Axis::Kind::copy, {}}}, 6);
  EXPECT_EQ(rows.to_string(), "PART<0> on 2, 3 copies");
  EXPECT_EQ(rows.holders({1, 0}), (std::vector<int>{3, 4, 5}));
  EXPECT_EQ(rows.copies(), 3);
  EXPECT_FALSE(rows.is_all());
}

TEST(Placement, PartIsBalanced) {
  for (int sites = 1; sites <= 9; ++sites)
    for (std::int64_t a = 1; a <= 6; ++a)
      for (std::int64_t b = 1; b <= 6; ++b) {
        const Key frontier{a, b};
        expect_balanced(Placement::part({0, 1}, frontier, sites), frontier, "PART<0+1>");
        expect_balanced(Placement::part({1, 0}, frontier, sites), frontier, "PART<1+0>");
        expect_balanced(Placement::part({0}, frontier, sites), {a, 1}, "PART<0>");
      }
}

TEST(Placement, GridsAreBalancedAlongEachAxis) {
  for (int rows = 1; rows <= 4; ++rows)
    for (int columns = 1; columns <= 4; ++columns)
      for (std::int64_t n = 1; n <= 9; ++n) {
        const Placement grid = Placement::grid({0, 1}, {rows, columns}, 16);
        const Placement split = Placement::grid({0}, {rows}, 16);
        expect_balanced(split, {n}, "an axis");
        // Where each axis divides its component, every site has the same.
        const Key frontier{n * rows, n * columns};
        std::vector<int> all = loads(grid, frontier);
        all.resize(static_cast<std::size_t>(grid.used()));
        for (int load : all) EXPECT_EQ(load, n * n);
      }
}

TEST(Placement, RenamedComponents) {
  const Placement grid = Placement::grid({0, 1}, {2, 3}, 6);
  EXPECT_EQ(grid.renumber({1, 0}, Axis::Kind::copy).to_string(), "PART<1, 0> on 2x3");
  EXPECT_EQ(grid.renumber({0, -1}, Axis::Kind::copy).to_string(), "PART<0> on 2, 3 copies");
  EXPECT_EQ(grid.renumber({0, -1}, Axis::Kind::partial).to_string(), "PART<0> on 2, 3 summands");
  EXPECT_TRUE(grid.renumber({-1, -1}, Axis::Kind::copy).is_all());
}

TEST(Placement, EqualPlacementsLookEqual) {
  EXPECT_EQ(Placement::grid({0, 1}, {4, 1}, 4), Placement::grid({0}, {4}, 4));
  EXPECT_EQ(Placement::part({0}, {8}, 4), Placement::grid({0}, {4}, 4));
  EXPECT_NE(Placement::grid({0}, {4}, 4), Placement::grid({0}, {4}, 5));
  EXPECT_EQ(PlacementHash{}(Placement::part({0}, {8}, 4)),
            PlacementHash{}(Placement::grid({0}, {4}, 4)));
}

TEST(Placement, Mistakes) {
  EXPECT_ERROR(PlanError, Placement::all(0), "invalid number of sites 0; expected 1 to 4096");
  EXPECT_ERROR(PlanError, Placement::part({2}, {4, 4}, 2),
               "key component 2 does not exist in keys below");
  EXPECT_ERROR(PlanError, Placement::grid({0, 1}, {2, 3}, 5),
               "a grid needs 6 sites or more, but there are 5");
  EXPECT_ERROR(PlanError, Placement::grid({0}, {2, 3}, 6), "1 components are given for 2 axes");
  EXPECT_ERROR(PlanError, Placement::grid({0}, {0}, 6), "an axis cannot have the extent 0");
  EXPECT_ERROR(PlanError, Placement({{2, Axis::Kind::split, {}}}, 2),
               "must have digits if it splits");
}

}  // namespace
}  // namespace tessera
