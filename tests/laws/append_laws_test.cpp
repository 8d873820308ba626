#include <algorithm>
#include <random>

#include "support/expectations.h"
#include "tessera/database.h"

// However its tuples are appended, a relation is as if they had been stored at once.

namespace tessera {
namespace {

/// What is appended: these tuples, in the order in which they come, in random pieces.
std::vector<std::vector<Tuple>> pieces_of(std::vector<Tuple> tuples, std::mt19937_64& random) {
  std::shuffle(tuples.begin(), tuples.end(), random);
  std::vector<std::vector<Tuple>> pieces;
  for (Tuple& tuple : tuples) {
    if (pieces.empty() || random() % 3 == 0) pieces.emplace_back();
    pieces.back().push_back(std::move(tuple));
  }
  return pieces;
}

void expect_same(const Database& database, const std::string& name, const std::string& whole) {
  EXPECT_TRUE(relations_equal(database.read(name), database.read(whole)));
  const StoredInfo found = database.info(name), expected = database.info(whole);
  EXPECT_EQ(found.statistics, expected.statistics);
  EXPECT_EQ(found.shape, expected.shape);
  EXPECT_EQ(found.bytes, expected.bytes);
  EXPECT_TRUE(relations_equal(database.plan(name).transform("neg").run(Holes::allowed),
                              database.plan(whole).transform("neg").run(Holes::allowed)));
}

/// Tiles of a tensor, some of them missing, and now and then one that is no tile of it.
std::vector<Tuple> some_tuples(std::mt19937_64& random) {
  const auto between = [&](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
  };
  const Tile tensor =
      random_integers(DType::f64, {between(1, 12), between(1, 12)}, random(), -9, 9);
  std::vector<Tuple> tuples =
      Relation::from_tensor(tensor, {between(1, 4), between(1, 4)}).tuples();
  if (random() % 2 == 0)
    std::erase_if(
        tuples, [&](const Tuple& tuple) { return &tuple != &tuples.back() && random() % 4 == 0; });
  if (random() % 4 == 0)
    for (Tile& tile : tuples[random() % tuples.size()].tiles) tile = tile.with_sparse_dims(1);
  if (random() % 4 == 0)
    tuples[random() % tuples.size()].tiles = {random_integers(DType::f64, {2, 5}, random(), 1, 9)};
  return tuples;
}

TEST(AppendLaws, PiecesInAnyOrderAreTheWhole) {
  std::mt19937_64 random(1);
  Database database = Database::temporary();
  for (int run = 0; run < 100; ++run) {
    SCOPED_TRACE(run);
    const std::vector<Tuple> tuples = some_tuples(random);
    Relation whole = Relation::of(tuples, Presence::partial);
    try {
      whole = Relation::of(tuples);
    } catch (const PlanError&) {
      // It has holes.
    }
    Changes changes{.dropped = {}, .appended = {{"whole", whole}}};
    if (run > 0) changes.dropped = {"pieces", "whole"};
    const auto pieces = pieces_of(tuples, random);
    const std::size_t at_once = random() % (pieces.size() + 1);
    for (std::size_t i = 0; i < at_once; ++i)
      changes.appended.emplace_back("pieces", Relation::of(pieces[i], Presence::partial));
    database.change(changes);
    for (std::size_t i = at_once; i < pieces.size(); ++i)
      database.change({.appended = {{"pieces", Relation::of(pieces[i], Presence::partial)}}});
    expect_same(database, "pieces", "whole");
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_TRUE(database.check().empty());
}

TEST(AppendLaws, PiecesOfASparseTensorAreTheWhole) {
  std::mt19937_64 random(2);
  Database database = Database::temporary();
  for (int run = 0; run < 50; ++run) {
    SCOPED_TRACE(run);
    const Tile tensor = random_sparse({DType::f64, {9 + run % 5, 7 + run % 3}, 2}, random(), 0.1);
    const Relation whole = Relation::from_tensor(tensor, {4, 3}, Presence::sparse);
    if (whole.size() == 0) continue;
    Changes changes{.dropped = {}, .appended = {{"whole", whole}}};
    if (run > 0) changes.dropped = {"pieces", "whole"};
    for (const std::vector<Tuple>& piece : pieces_of(whole.tuples(), random)) {
      std::vector<Tuple> sorted = piece;
      std::sort(sorted.begin(), sorted.end(),
                [](const Tuple& a, const Tuple& b) { return a.key < b.key; });
      changes.appended.emplace_back("pieces",
                                    Relation::assemble(whole.type(), sorted, whole.absent_types()));
    }
    database.change(changes);
    expect_same(database, "pieces", "whole");
    EXPECT_TRUE(tiles_equal(database.read("pieces").to_tensor(), whole.to_tensor()));
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace tessera
