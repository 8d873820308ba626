#include <atomic>
#include <thread>

#include "support/database_folder.h"
#include "support/expectations.h"

// Many changes of a database in one statement: all of them, or none.

namespace tessera {
namespace {

using Change = DatabaseFolder;

Relation numbers(std::int64_t rows, std::uint64_t seed) {
  return Relation::from_tensor(random_integers(DType::f64, {rows, 3}, seed, 0, 100), {2, 2});
}

TEST_F(Change, DropsRenamesStoresAppendsAndSetsTextsInThatOrder) {
  Database database = open();
  const Relation a = numbers(4, 1), b = numbers(6, 2), c = numbers(2, 3);
  database.store("A", a);
  database.store("B", b);
  const Plan old = database.plan("A");
  database.change({.dropped = {"A"},
                   .renamed = {{"B", "A"}},
                   .results = {{"B", old.transform("neg")}, {"C", old.transform("abs")}},
                   .appended = {{"D", c}},
                   .texts = {{"note", "A was B"}}});
  EXPECT_EQ(names_in(database), "A B C D");
  EXPECT_TRUE(relations_equal(database.read("A"), b));
  EXPECT_TRUE(relations_equal(database.read("B"), Plan::input(a).transform("neg").run()));
  EXPECT_TRUE(relations_equal(database.read("C"), a));
  EXPECT_TRUE(relations_equal(database.read("D"), c));
  EXPECT_EQ(database.text("note"), "A was B");
  EXPECT_TRUE(database.check().empty());
}

TEST_F(Change, AReplacementReadsWhatItReplaces) {
  Database database = open();
  const Relation a = numbers(4, 1);
  database.store("A", a);
  for (int i = 0; i < 3; ++i)
    database.change({.dropped = {"A"},
                     .results = {{"A", database.plan("A").transform("mul_scalar(value=2)")}}});
  EXPECT_TRUE(
      relations_equal(database.read("A"), Plan::input(a).transform("mul_scalar(value=8)").run()));
  database.vacuum();
  EXPECT_TRUE(database.check().empty());
}

TEST_F(Change, WhatResultsShareIsComputedOnce) {
  static std::atomic<int> calls = 0;
  register_kernel(
      {.name = "counted_copy",
       .infer = [](Types types, const Params&) { return std::vector<TileType>{types[0]}; },
       .implementations = {{.name = "copy", .run = [](Tiles tiles, const Params&) {
                              ++calls;
                              return std::vector<Tile>{tiles[0]};
                            }}}});
  Database database = open();
  const Plan shared = Plan::input(numbers(4, 1), "A").transform("counted_copy");
  RunReport report;
  database.change({.results = {{"N", shared.transform("neg")}, {"P", shared.transform("abs")}}}, {},
                  &report);
  EXPECT_EQ(calls, 4);
  EXPECT_GT(report.tasks, 4);
  ASSERT_EQ(database.history().size(), 1);
  EXPECT_EQ(database.history()[0].name, "N, P");
}

TEST_F(Change, AnErrorLeavesEverythingAsItWas) {
  Database database = open();
  const Relation a = numbers(4, 1);
  database.change({.appended = {{"A", a}, {"B", a}}, .texts = {{"note", "before"}}});
  const auto before = std::filesystem::file_size(segments().at(0));
  const std::vector<std::pair<Changes, std::string>> refused{
      {{.dropped = {"A", "A"}},
       "TypeError: relation \"A\" not found in " + folder_.string() + "; available: B"},
      {{.renamed = {{"A", "B"}}}, "TypeError: relation \"B\" already exists; drop it first"},
      {{.dropped = {"A"}, .renamed = {{"A", "C"}}},
       "TypeError: relation \"A\" not found in " + folder_.string() + "; available: B"},
      {{.results = {{"C", Plan::input(a)}, {"C", Plan::input(a)}}},
       "TypeError: two relations would get the name \"C\""},
      {{.renamed = {{"A", "C"}}, .results = {{"C", Plan::input(a)}}},
       "TypeError: relation \"C\" already exists; drop it first"},
      {{.texts = {{"", "x"}}},
       "TypeError: the name of a text must have 1 to 1000 bytes of valid UTF-8"},
      {{.dropped = {"B"},
        .results = {{"C", Plan::input(a).transform("neg")}},
        .appended = {{"A", a}},
        .texts = {{"note", "after"}}},
       "TypeError: cannot append to \"A\": a tuple with key <0, 0> already exists"},
      // Found only when the result is there, which the tuples are to be added to.
      {{.dropped = {"B"}, .results = {{"C", Plan::input(a)}}, .appended = {{"C", a}}},
       "TypeError: cannot append to \"C\": a tuple with key <0, 0> already exists"}};
  for (const auto& [changes, message] : refused) {
    EXPECT_EQ(message_of([&] { database.change(changes); }), message);
    EXPECT_EQ(names_in(database), "A B");
    EXPECT_EQ(database.text("note"), "before");
    EXPECT_EQ(std::filesystem::file_size(segments().at(0)), before);
  }
  EXPECT_EQ(message_of([&] {
              open({.read_only = true}).change({.texts = {{"note", "x"}}});
            }),
            fmt::format("IoError: database \"{}\" is read-only", folder_.string()));
  EXPECT_TRUE(database.check().empty());
}

TEST_F(Change, NothingIsComputedForAChangeThatIsRefused) {
  Database database = open();
  database.store("A", numbers(4, 1));
  bool read = false;
  const RelationType type{{{"", {DType::f64, {2, 2}, 0}}}, {1}};
  const Plan plan = Plan::input(type, [&](const Key&) {
    read = true;
    return std::vector<Tile>{Tile::zeros(DType::f64, {2, 2})};
  });
  EXPECT_ERROR(TypeError,
               (database.change({.results = {{"R", plan}}, .appended = {{"A", numbers(4, 2)}}}), 0),
               "cannot append to \"A\"");
  EXPECT_FALSE(read);
}

TEST_F(Change, TwoWhoReplaceTheSameDoSoOneAfterTheOther) {
  Database database = open();
  database.store("A", numbers(4, 1));
  const auto replace = [&](double by) {
    Database own = open();
    for (int i = 0; i < 20; ++i)
      own.change({.dropped = {"A"},
                  .results = {{"A", Plan::input(numbers(4, 1))
                                        .transform(fmt::format("mul_scalar(value={})", by))}},
                  .texts = {{"by", fmt::format("{}", by)}}});
  };
  std::thread other([&] { replace(2); });
  replace(3);
  other.join();
  const double by = std::stod(*database.text("by"));
  EXPECT_TRUE(relations_equal(
      database.read("A"),
      Plan::input(numbers(4, 1)).transform(fmt::format("mul_scalar(value={})", by)).run()));
}

}  // namespace
}  // namespace tessera
