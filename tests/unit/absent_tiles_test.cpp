#include <gtest/gtest.h>

#include "store/absent_types.h"
#include "store/catalog.h"
#include "support/database_folder.h"
#include "support/expectations.h"
#include "tra/tuple_set.h"

// A sparse relation leaves out tiles of zeros, but not what shapes they have: stored, read and
// computed with, it is the relation that it was in memory.

namespace tessera {
namespace {

class AbsentTiles : public DatabaseFolder {
 protected:
  /// A sparse matrix with nonzeros at these places.
  static Relation sparse(const Shape& shape, const Shape& tile, const std::vector<Index>& places) {
    MutableTile elements = MutableTile::zeros(DType::f64, shape);
    for (const Index& place : places) elements.data<double>()[place[0] * shape[1] + place[1]] = 3;
    return Relation::from_tensor(std::move(elements).publish().with_sparse_dims(1), tile,
                                 Presence::sparse);
  }

  void expect_stays(const Plan& plan, const std::string& name) {
    Database database = open();
    const Relation expected = plan.run();
    database.store(name, plan);
    database.store(name + " (read)", expected);
    EXPECT_TRUE(relations_equal(database.read(name), expected)) << name;
    EXPECT_TRUE(relations_equal(database.plan(name).run(), expected)) << name;
    EXPECT_TRUE(relations_equal(database.read(name + " (read)"), expected)) << name;
    database.vacuum();
    EXPECT_TRUE(relations_equal(open().read(name), expected)) << name;
  }
};

TEST_F(AbsentTiles, OfATensorThatIsAllZero) {
  const Relation zero = sparse({5, 5}, {2, 2}, {});
  expect_stays(Plan::input(zero), "Z");
  EXPECT_EQ(open().info("Z").shape, (Shape{5, 5}));
  EXPECT_EQ(open().read("Z").to_tensor().shape(), (Shape{5, 5}));
}

TEST_F(AbsentTiles, AfterEveryOperator) {
  const Plan plan = Plan::input(sparse({5, 4}, {2, 2}, {{0, 0}, {3, 1}}), "R");
  expect_stays(plan, "R");
  expect_stays(plan.aggregate({0}, KernelCall("add")), "rows");
  expect_stays(plan.rekey("<i, j> -> <j, i>"), "keys turned");
  expect_stays(plan.rekey("<i, j> -> <i * 2 + j>"), "keys in a row");
  expect_stays(plan.transform({{"neg", {0}, {"a"}}, {"transpose", {0}, {"b"}}}), "two columns");
  expect_stays(plan.tile(0, 1), "pieces");
  expect_stays(plan.tile(1, 3), "pieces of no equal length");
}

TEST_F(AbsentTiles, AQueryOfWhatIsStoredAnswersAsOneOfMemory) {
  const Plan rows =
      Plan::input(sparse({5, 4}, {2, 2}, {{0, 0}, {3, 1}})).aggregate({0}, KernelCall("add"));
  const Plan dense = Plan::input(Relation::from_tensor(Tile::full(DType::f64, {5, 4}, 1), {2, 2}))
                         .aggregate({0}, KernelCall("add"));
  Database database = open();
  database.store("rows", rows);
  EXPECT_TRUE(relations_equal(database.plan("rows").join(dense, {0}, {0}, "add").run(),
                              rows.join(dense, {0}, {0}, "add").run()));
}

TEST_F(AbsentTiles, WhoseShapesFollowFromAllOfTheKey) {
  const RelationType type{{{"", {DType::f64, Shape{9}}}}, {3, 3, 3}, Presence::sparse};
  const Relation odd =
      Relation::assemble(type, {{{0, 1, 2}, {Tile::full(DType::f64, {9}, 1)}}}, [](const Key& key) {
        const std::int64_t extent = key[0] * key[1] + key[2];
        return std::vector<TileType>{{DType::f64, {extent}}};
      });
  expect_stays(Plan::input(odd), "odd");
}

/// Beyond what is listed: the rules are told by many keys.
TEST_F(AbsentTiles, OfMoreKeysThanCanBeListed) {
  const std::int64_t many = 3'000'000'000;
  const auto of = [&](const TypesAt& absent) {
    return TupleSet<TileType>{
        {{{"a", {DType::f64, {4, 4}}}, {"b", {DType::i64, {4}}}}, {many, many}, Presence::sparse},
        {{{5, 5}, {{DType::f64, {4, 4}}, {DType::i64, {4}}}}},
        absent};
  };
  const TypesAt regular = [&](const Key& key) {
    const std::int64_t rows = key[0] + 1 < many ? 4 : 3, columns = key[1] + 1 < many ? 4 : 1;
    return std::vector<TileType>{{DType::f64, {rows, columns}}, {DType::i64, {columns}}};
  };
  const store::Extents extents = store::extents_of(of(regular));
  ASSERT_TRUE(extents.absent);
  const TypesAt back = store::absent_types_of(of(regular).type, *extents.absent);
  for (const Key& key : {Key{0, 0}, Key{many - 1, 7}, Key{7, many - 1}, Key{many - 1, many - 1},
                         Key{many - 2, many - 2}})
    EXPECT_EQ(back(key), regular(key)) << to_string(key);
  const TypesAt irregular = [&](const Key& key) {
    return std::vector<TileType>{{DType::f64, {key[0] % 4, 4}}, {DType::i64, {4}}};
  };
  EXPECT_ERROR(PlanError, store::extents_of(of(irregular)), "cannot store");
}

TEST_F(AbsentTiles, AfterAnAppend) {
  Database database = open();
  const Relation whole = sparse({5, 5}, {2, 2}, {{0, 0}, {1, 4}, {4, 4}});
  const Relation first = sparse({5, 5}, {2, 2}, {});
  database.store("A", first);
  for (const Tuple& tuple : whole.tuples())
    database.change({.appended = {{"A", Relation::of({tuple}, Presence::sparse)}}});
  EXPECT_TRUE(relations_equal(database.read("A"), whole));
  EXPECT_EQ(database.info("A").shape, (Shape{5, 5}));
}

}  // namespace
}  // namespace tessera
