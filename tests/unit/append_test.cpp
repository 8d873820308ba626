#include <chrono>
#include <limits>
#include <random>

#include "support/database_folder.h"
#include "support/expectations.h"

// Tuples that are added to a stored relation: it is as if all had been stored at once.

namespace tessera {
namespace {

class Append : public DatabaseFolder {
 protected:
  std::size_t directories(const std::string& name) const {
    return catalogue()->find(name)->directories.size();
  }
};

Tuple tuple(const Key& key, const Shape& shape, double value) {
  return {key, {Tile::full(DType::f64, shape, value)}};
}

void append(Database& database, const std::string& name, std::vector<Tuple> tuples,
            Presence presence = Presence::partial) {
  database.change({.appended = {{name, Relation::of(std::move(tuples), presence)}}});
}

void expect_same(const Database& database, const std::string& name, const Relation& expected) {
  EXPECT_TRUE(relations_equal(database.read(name), expected));
  EXPECT_EQ(database.info(name).statistics, expected.statistics());
  EXPECT_TRUE(database.check().empty());
}

TEST_F(Append, ToARelationThatIsThereOrNot) {
  Database database = open();
  append(database, "A", {tuple({0, 0}, {2, 3}, 1)});
  append(database, "A", {tuple({0, 1}, {2, 2}, 2)});
  const Relation whole = Relation::of({tuple({0, 0}, {2, 3}, 1), tuple({0, 1}, {2, 2}, 2)});
  expect_same(database, "A", whole);
  EXPECT_EQ(database.info("A").shape, (Shape{2, 5}));
  EXPECT_EQ(directories("A"), 2);
  EXPECT_TRUE(relations_equal(open().plan("A").transform("neg").run(),
                              Plan::input(whole).transform("neg").run()));
}

TEST_F(Append, HolesComeAndGo) {
  Database database = open();
  append(database, "A", {tuple({1}, {2}, 1)});
  EXPECT_EQ(database.info("A").type.presence, Presence::partial);
  append(database, "A", {tuple({0}, {2}, 0)});
  expect_same(database, "A", Relation::of({tuple({0}, {2}, 0), tuple({1}, {2}, 1)}));
  append(database, "A", {tuple({3}, {2}, 3)});
  expect_same(database, "A",
              Relation::of({tuple({0}, {2}, 0), tuple({1}, {2}, 1), tuple({3}, {2}, 3)},
                           Presence::partial));
  EXPECT_FALSE(database.info("A").shape);
  append(database, "A", {tuple({2}, {2}, 2)});
  EXPECT_EQ(database.info("A").type.presence, Presence::continuous);
  EXPECT_EQ(database.info("A").shape, (Shape{8}));
}

TEST_F(Append, ATensorThatGrowsBeyondItsEdgeIsNoneAnyMore) {
  Database database = open();
  database.store("V", Relation::from_tensor(random_integers(DType::f64, {5}, 1, 0, 9), {3}));
  EXPECT_EQ(database.info("V").shape, (Shape{5}));
  append(database, "V", {tuple({2}, {3}, 1)});
  EXPECT_FALSE(database.info("V").shape);
  EXPECT_EQ(database.info("V").type.presence, Presence::continuous);
}

TEST_F(Append, ASparseTensorStaysOneBelowItsFrontier) {
  std::vector<double> elements(7 * 5, 0);
  elements[8] = 3;
  Database database = open();
  database.store(
      "S", Relation::from_tensor(Tile::of<double>({7, 5}, elements), {3, 2}, Presence::sparse));
  append(database, "S", {tuple({2, 2}, {1, 1}, 4)});
  elements[34] = 4;
  const Relation expected =
      Relation::from_tensor(Tile::of<double>({7, 5}, elements), {3, 2}, Presence::sparse);
  EXPECT_EQ(database.info("S").shape, (Shape{7, 5}));
  expect_same(database, "S", expected);
  EXPECT_TILE_EQ(database.read("S").to_tensor(), expected.to_tensor());
  append(database, "S", {tuple({4, 0}, {3, 2}, 1)});  // what lies beside it is not known
  EXPECT_EQ(database.info("S").type.presence, Presence::sparse);
  EXPECT_EQ(database.info("S").type.frontier, (Key{5, 3}));
  EXPECT_FALSE(database.info("S").shape);
  EXPECT_EQ(database.info("S").statistics.min, 0);
}

TEST_F(Append, LayoutsAndColumnsAreThoseOfAll) {
  const Tile dense = random_integers(DType::f64, {2, 2}, 1, 0, 9);
  const Relation two =
      Relation::of({{{0}, {dense.with_sparse_dims(1), Tile::scalar(1.)}}}).rename({"x", "y"});
  Database database = open();
  database.store("T", two);
  database.change(
      {.appended = {{"T", Relation::of({{{1}, {dense, Tile::scalar(2.)}}}, Presence::partial)}}});
  EXPECT_EQ(database.info("T").type.columns[0].type.sparse_dims, 0);
  expect_same(database, "T",
              Relation::of({{{0}, {dense.with_sparse_dims(1), Tile::scalar(1.)}},
                            {{1}, {dense, Tile::scalar(2.)}}})
                  .rename({"x", "y"}));
}

TEST_F(Append, ToARelationWithoutTuples) {
  Database database = open();
  const RelationType type{{{"m", {DType::f64, {2000, 2000}, 0}}}, {0, 0}};
  database.store("E", Relation::empty(type));
  EXPECT_EQ(database.read("E").size(), 0);
  append(database, "E", {tuple({0, 0}, {2, 3}, 1)});
  expect_same(database, "E", Relation::of({tuple({0, 0}, {2, 3}, 1)}).rename({"m"}));
  database.change({.appended = {{"E", Relation::empty(type)}}});
  expect_same(database, "E", Relation::of({tuple({0, 0}, {2, 3}, 1)}).rename({"m"}));
}

TEST_F(Append, WhatDoesNotFitIsRefused) {
  Database database = open();
  append(database, "A", {tuple({0, 0}, {2, 3}, 1), tuple({0, 1}, {2, 3}, 1)});
  const auto refused = [&](std::vector<Tuple> tuples) {
    return message_of([&] { append(database, "A", std::move(tuples)); });
  };
  EXPECT_EQ(refused({tuple({0, 1}, {2, 3}, 1)}),
            "TypeError: cannot append to \"A\": a tuple with key <0, 1> already exists");
  EXPECT_EQ(refused({tuple({2}, {2, 3}, 1)}),
            "TypeError: cannot append to \"A\": its keys have 2 components, the new keys have 1");
  EXPECT_EQ(refused({tuple({0, 2}, {2}, 1)}),
            "TypeError: cannot append to \"A\": its column 0 is f64[2x3], but in the new tuples it "
            "is f64[2]; dtype and number of dimensions must be the same");
  EXPECT_EQ(refused({{{0, 2}, {Tile::full(DType::i64, {2, 3}, 1)}}}),
            "TypeError: cannot append to \"A\": its column 0 is f64[2x3], but in the new tuples it "
            "is i64[2x3]; dtype and number of dimensions must be the same");
  EXPECT_EQ(refused({{{0, 2}, {Tile::scalar(1.), Tile::scalar(1.)}}}),
            "TypeError: cannot append to \"A\": it has 1 columns, the new tuples have 2");
  EXPECT_EQ(database.info("A").statistics.tuples, 2);
  EXPECT_EQ(directories("A"), 1);
}

TEST_F(Append, SeveralToOneRelationInOneChange) {
  Database database = open();
  const auto single = [](const Key& key, double value) {
    return Relation::of({tuple(key, {2}, value)}, Presence::partial);
  };
  database.store("A", single({0}, 0));
  database.change({.results = {{"R", Plan::input(Relation::of({tuple({0}, {2}, 5)}))}},
                   .appended = {{"A", single({1}, 1)},
                                {"R", single({1}, 6)},
                                {"A", single({2}, 2)},
                                {"N", single({0}, 7)},
                                {"N", single({1}, 8)}}});
  expect_same(database, "A",
              Relation::of({tuple({0}, {2}, 0), tuple({1}, {2}, 1), tuple({2}, {2}, 2)}));
  expect_same(database, "R", Relation::of({tuple({0}, {2}, 5), tuple({1}, {2}, 6)}));
  expect_same(database, "N", Relation::of({tuple({0}, {2}, 7), tuple({1}, {2}, 8)}));
}

TEST_F(Append, AfterARenameAndToWhatWasDropped) {
  Database database = open();
  append(database, "A", {tuple({0}, {2}, 0)});
  append(database, "B", {tuple({0}, {2}, 10)});
  database.change({.dropped = {"B"},
                   .renamed = {{"A", "C"}},
                   .appended = {{"C", Relation::of({tuple({1}, {2}, 1)}, Presence::partial)},
                                {"B", Relation::of({tuple({0}, {2}, 11)})}}});
  expect_same(database, "C", Relation::of({tuple({0}, {2}, 0), tuple({1}, {2}, 1)}));
  expect_same(database, "B", Relation::of({tuple({0}, {2}, 11)}));
}

TEST_F(Append, ManyTimesLeavesFewDirectories) {
  Database database = Database::temporary();  // which waits for no disk
  const auto directories_of = [&] {
    return store::CatalogFile(database.folder(), store::Sync::never)
        .now()
        ->find("A")
        ->directories.size();
  };
  std::vector<Tuple> all;
  std::vector<std::int64_t> keys(600);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<std::int64_t>(i);
  std::shuffle(keys.begin(), keys.end(), std::mt19937_64(1));
  for (const std::int64_t key : keys) {
    all.push_back(tuple({key / 20, key % 20}, {2}, static_cast<double>(key)));
    append(database, "A", {all.back()});
    EXPECT_LE(directories_of(), 32);
  }
  expect_same(database, "A", Relation::of(all));
  database.vacuum();
  expect_same(database, "A", Relation::of(all));
}

TEST_F(Append, StatisticsKeepWhatIsNoNumber) {
  Database database = open();
  append(database, "A", {tuple({0}, {2}, std::numeric_limits<double>::quiet_NaN())});
  append(database, "A", {tuple({1}, {2}, 7)});
  EXPECT_TRUE(std::isnan(database.info("A").statistics.min));
  append(database, "B", {tuple({0}, {0}, 1)});  // no element at all
  append(database, "B", {tuple({1}, {0}, 7)});
  append(database, "B", {tuple({2}, {2}, 7)});
  EXPECT_EQ(database.info("B").statistics.min, 7);
}

TEST_F(Append, AReaderKeepsWhatItHasSeen) {
  Database database = open();
  append(database, "A", {tuple({0}, {2}, 0)});
  const Plan before = database.plan("A");
  append(database, "A", {tuple({1}, {2}, 1)});
  database.vacuum();
  EXPECT_TRUE(relations_equal(before.run(), Relation::of({tuple({0}, {2}, 0)})));
  EXPECT_EQ(database.plan("A").run().size(), 2);
}

}  // namespace
}  // namespace tessera
