#include <gtest/gtest.h>

#include "store/catalog_file.h"
#include "store/consistency.h"
#include "store/stored_relation.h"
#include "support/database_folder.h"
#include "support/expectations.h"
#include "support/sealed_record.h"
#include "tessera/session.h"
#include "tile/layout_flaws.h"

// Databases whose checksums are right, and whose contents are not: what is read is looked at.

namespace tessera {
namespace {

using store::Catalog;
using store::Definition;

using Numbers = std::vector<std::int64_t>;

// ------------------------------------------------------------------------------ tiles

TEST(LayoutFlaws, OfSparseTiles) {
  const TileType csr{DType::f64, {3, 4}, 1};
  EXPECT_EQ(flaw_of_entries(csr, Numbers{0, 2, 2, 3}, Numbers{1, 3, 0}), "");
  EXPECT_EQ(flaw_of_entries(csr, Numbers{0, 0, 0, 0}, Numbers{}), "");
  EXPECT_EQ(flaw_of_entries(csr, Numbers{0, 1, 2, 3}, Numbers{3, 2, 1}), "");
  EXPECT_EQ(flaw_of_entries(csr, Numbers{0, 2, 3}, Numbers{1, 3, 0}),
            "it has 3 offsets for 3 rows");
  EXPECT_EQ(flaw_of_entries(csr, Numbers{1, 2, 2, 3}, Numbers{1, 3, 0}),
            "its offsets go from 1 to 3, but it has 3 entries");
  EXPECT_EQ(flaw_of_entries(csr, Numbers{0, 2, 2, 9}, Numbers{1, 3, 0}),
            "its offsets go from 0 to 9, but it has 3 entries");
  EXPECT_EQ(flaw_of_entries(csr, Numbers{0, 2, 1, 3}, Numbers{1, 3, 0}),
            "its offsets are decreasing");
  EXPECT_EQ(flaw_of_entries(csr, Numbers{0, INT64_MAX, INT64_MIN, 3}, Numbers{1, 3, 0}),
            "its offsets are decreasing");
  for (const std::int64_t bad : {std::int64_t{-1}, std::int64_t{4}, INT64_MIN, INT64_MAX})
    EXPECT_EQ(flaw_of_entries(csr, Numbers{0, 2, 2, 3}, Numbers{1, 3, bad}),
              "a coordinate is not in the range 0 to 3");
  EXPECT_EQ(flaw_of_entries(csr, Numbers{0, 2, 2, 3}, Numbers{3, 1, 0}),
            "coordinates 3 and 1 of row 0 are not increasing");
  EXPECT_EQ(flaw_of_entries(csr, Numbers{0, 1, 3, 3}, Numbers{2, 2, 2}),
            "coordinates 2 and 2 of row 1 are not increasing");
  const TileType coordinates{DType::boolean, {3, 4}, 2};
  EXPECT_EQ(flaw_of_entries(coordinates, Numbers{0, 2}, Numbers{1, 11}), "");
  EXPECT_EQ(flaw_of_entries(coordinates, Numbers{0, 2}, Numbers{1, 12}),
            "a coordinate is not in the range 0 to 11");
  EXPECT_EQ(flaw_of_entries({DType::f64, {2, 0}, 1}, Numbers{0, 0, 0}, Numbers{}), "");
  EXPECT_NE(flaw_of_entries({DType::f64, {2, 0}, 1}, Numbers{0, 0, 1}, Numbers{0}), "");
}

TEST(LayoutFlaws, OfTypesAndBooleans) {
  EXPECT_EQ(flaw_of({DType::f64, {3, 4}, 2}), "");
  EXPECT_EQ(flaw_of({DType::f64, {}, 0}), "");
  EXPECT_NE(flaw_of({DType::f64, {3, 4}, 3}), "");
  EXPECT_NE(flaw_of({DType::f64, {3, -4}, 0}), "");
  EXPECT_NE(flaw_of({DType::f64, {std::int64_t{1} << 40, std::int64_t{1} << 40}, 0}), "");
  EXPECT_EQ(flaw_of({DType::f64, {std::int64_t{1} << 31, std::int64_t{1} << 31}, 2}), "");
  const std::byte good[] = {std::byte{0}, std::byte{1}}, bad[] = {std::byte{0}, std::byte{2}};
  EXPECT_EQ(flaw_of_booleans(good), "");
  EXPECT_EQ(flaw_of_booleans(bad), "an element is neither true nor false");
}

// ------------------------------------------------------------------------------ databases

class HostileDatabase : public DatabaseFolder {
 protected:
  /// The relation R, as the catalogue has it.
  Definition definition() const { return now().find("R").value(); }
  Catalog now() const { return *store::CatalogFile(folder_, store::Sync::never).now(); }
  template <class Change>
  void commit(const Change& change) const {
    Catalog changed = now();
    hostile::count_appended(folder_, changed);
    change(changed);
    (void)store::CatalogFile(folder_, store::Sync::never).commit(std::move(changed));
  }
  void write(const Definition& definition) const {
    commit([&](Catalog& catalog) { catalog.update(definition); });
  }
  void set_text(const std::string& name, const std::string& text) const {
    commit([&](Catalog& catalog) { catalog.set_text(name, text); });
  }
  std::string text(const std::string& name) const { return now().text(name).value(); }

  void write_directory(const Numbers& numbers) const {
    Definition changed = definition();
    const store::Record record = store::record_of(numbers);
    std::vector<std::byte> bytes = record.head;
    for (const auto& piece : record.payload) bytes.insert(bytes.end(), piece.begin(), piece.end());
    changed.directories = {hostile::append(folder_, 1, bytes)};
    write(changed);
  }
  /// Changes the words of the first record of R.
  template <class Change>
  void change_record(const Change& change) const {
    const store::StoredRelation stored(folder_, definition());
    store::Directory directory{stored.entries()};
    store::Address& address = directory.entries.at(0).address;
    std::vector<std::byte> bytes =
        hostile::bytes_of(File::open(store::segment_path(folder_, 1)), address.range);
    change(reinterpret_cast<std::int64_t*>(bytes.data()), bytes);
    address = hostile::append(folder_, 1, bytes);
    write_directory(to_numbers(directory));
  }
  std::string refused() const {
    return message_of([&] { (void)open().read("R"); });
  }
  std::string refused(const std::string& sql) const {
    return message_of([&] { Session(open()).execute(sql); });
  }
};

TEST_F(HostileDatabase, RecordsAreSealedAsTheyWereWritten) {
  open().store("R", Relation::from_tensor(random_uniform(DType::f64, {4, 4}, 1), {2, 2}));
  change_record([](std::int64_t*, const auto&) {});
  EXPECT_EQ(refused(), "nothing was thrown");
}

TEST_F(HostileDatabase, OffsetsAndCoordinatesOfSparseTiles) {
  const Tile tile = random_sparse({DType::f64, {4, 5}, 1}, 1, 0.5);
  ASSERT_GT(tile.stored(), 3);
  const auto damaged = [&](std::int64_t word, std::int64_t value) {
    std::filesystem::remove_all(folder_);
    open().store("R", Relation::of({{{}, {tile}}}));
    change_record([&](std::int64_t* words, const auto& bytes) {
      const auto payload = bytes.size() / 8 - (5 + 2 * static_cast<std::size_t>(tile.stored()));
      words[payload + static_cast<std::size_t>(word)] = value;
    });
    return refused();
  };
  const std::string prefix =
      "IoError: the tile of \"R\" at <> is damaged: its tile of f64[4](5) is not valid: ";
  EXPECT_TRUE(damaged(0, 1).starts_with(prefix + "its offsets go from 1"));
  EXPECT_TRUE(damaged(2, INT64_MAX).starts_with(prefix + "its offsets are decreasing"));
  EXPECT_TRUE(damaged(4, 1'000'000).starts_with(prefix + "its offsets go from 0 to 1000000"));
  EXPECT_TRUE(damaged(5, -1).starts_with(prefix + "a coordinate is not in the range 0 to 4"));
  EXPECT_TRUE(damaged(6, 5).starts_with(prefix + "a coordinate is not in the range 0 to 4"));
  EXPECT_EQ(open().check().size(), 1);
}

TEST_F(HostileDatabase, WhatRecordsSayOfTheirTiles) {
  const auto damaged = [&](std::size_t word, std::int64_t value) {
    std::filesystem::remove_all(folder_);
    open().store("R", Relation::of({{{}, {Tile::full(DType::boolean, {2, 4}, 1)}}}));
    change_record([&](std::int64_t* words, const auto&) { words[word] = value; });
    return refused();
  };
  // After five words of the head: the arity, one tile, its dtype, sparse dimensions, rank, extents,
  // and the size of its piece.
  for (const std::int64_t value : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{2}, INT64_MAX})
    for (std::size_t word = 5; word < 13; ++word) {
      if (word == 5 && value == 0) continue;   // as it is
      if (word == 10 && value == 2) continue;  // as it is
      if (word == 8 && value == 0) continue;   // as it is
      if (word == 9 && value == 2) continue;   // as it is
      EXPECT_TRUE(damaged(word, value).starts_with("IoError: the tile of \"R\" at <> is damaged"))
          << word << " " << value << ": " << damaged(word, value);
    }
  EXPECT_NE(damaged(13, 0x0101010101010102).find("an element is neither true nor false"),
            std::string::npos);
}

TEST_F(HostileDatabase, ACompressedRecordIsNoLargerThanItCanBe) {
  open({.compress = true}).store("R", Relation::of({{{}, {Tile::zeros(DType::f64, {64, 64})}}}));
  change_record([&](std::int64_t* words, const auto&) {
    words[10] = std::int64_t{1} << 40;  // an extent
    words[12] = std::int64_t{1} << 49;  // the bytes
  });
  EXPECT_NE(refused().find("its parts are larger than its stored data"), std::string::npos)
      << refused();
}

TEST_F(HostileDatabase, KeysAndTypesInDirectories) {
  const auto damaged = [&](const auto& change) {
    std::filesystem::remove_all(folder_);
    open().store("R", Relation::from_tensor(random_uniform(DType::f64, {4, 4}, 1), {2, 2}));
    store::Directory directory{store::StoredRelation(folder_, definition()).entries()};
    change(directory.entries);
    write_directory(to_numbers(directory));
    return refused();
  };
  using Entries = std::vector<store::Entry>;
  EXPECT_EQ(damaged([](Entries&) {}), "nothing was thrown");
  const std::string prefix = "IoError: the directory of \"R\" is damaged: ";
  EXPECT_TRUE(damaged([](Entries& e) {
                e[0].key = {0, 2};
              }).starts_with(prefix + "key <0, 2> is not below <2, 2>"));
  EXPECT_TRUE(damaged([](Entries& e) {
                e[0].key = {0};
              }).starts_with(prefix + "key <0> is not below <2, 2>"));
  EXPECT_TRUE(damaged([](Entries& e) {
                e[0].key = {0, 1};
              }).starts_with(prefix + "duplicate key <0, 1>"));
  EXPECT_TRUE(damaged([](Entries& e) {
                e[0].types.clear();
              }).starts_with(prefix + "it has 0 tiles for 1 columns"));
  EXPECT_TRUE(
      damaged([](Entries& e) {
        e[0].types[0].dtype = DType::i64;
      }).starts_with(prefix + "the tile at <0, 0> is i64[2x2], but the column is f64[2x2]"));
  EXPECT_TRUE(damaged([](Entries& e) {
                e[0].types[0].shape = {2, 3};
              }).starts_with(prefix + "the tile at <0, 0> is f64[2x3], but the column is"));
  EXPECT_TRUE(damaged([](Entries& e) {
                e[0].types[0].shape = {2, 1};
              }).starts_with(prefix + "the tile at <0, 0> is f64[2x1], which does not fit"));
  EXPECT_TRUE(damaged([](Entries& e) { e.pop_back(); })
                  .starts_with("IoError: the catalogue entry of \"R\" is damaged: it should have 4 "
                               "tuples, but has 3"));
  EXPECT_TRUE(
      damaged([](Entries& e) {
        e[0].address.range.bytes = std::int64_t{1} << 50;
      }).starts_with("IoError: the tile of \"R\" at <0, 0> is damaged: the file ends after"));
}

TEST_F(HostileDatabase, WhatTheCatalogueSaysOfARelation) {
  const auto damaged = [&](const auto& change) {
    std::filesystem::remove_all(folder_);
    open().store("R", Relation::from_tensor(random_sparse({DType::f64, {4, 5}, 1}, 1, 0.9), {2, 2},
                                            Presence::sparse));
    Definition changed = definition();
    change(changed);
    write(changed);
    return refused();
  };
  EXPECT_EQ(damaged([](Definition&) {}), "nothing was thrown");
  const std::string prefix = "IoError: the catalogue entry of \"R\" is damaged: ";
  EXPECT_TRUE(damaged([](Definition& d) {
                d.type.frontier[0] = -1;
              }).starts_with(prefix + "its keys have the invalid bound -1"));
  EXPECT_TRUE(damaged([](Definition& d) {
                d.type.frontier = {INT64_MAX / 4, INT64_MAX / 4};
              }).starts_with(prefix + "it has more keys than can be counted"));
  EXPECT_TRUE(damaged([](Definition& d) {
                d.type.columns[0].type.shape[1] = -7;
              }).starts_with(prefix + "column 0 has an invalid type"));
  EXPECT_TRUE(damaged([](Definition& d) {
                d.extents.edges->last[0] = 9;
              }).starts_with(prefix + "its edges [9x1] do not fit"));
  EXPECT_TRUE(damaged([](Definition& d) {
                d.extents.edges->last.push_back(1);
              }).starts_with(prefix + "it has the edges of a tensor, but is not a tensor"));
  EXPECT_TRUE(damaged([](Definition& d) {
                d.statistics.distinct.clear();
              }).starts_with(prefix + "it has invalid statistics"));
  EXPECT_TRUE(damaged([](Definition& d) {
                d.statistics.nonzeros = -3;
              }).starts_with(prefix + "it has invalid statistics"));
  for (const std::int64_t count : {-1, 7})  // of six tuples
    EXPECT_TRUE(damaged([&](Definition& d) {
                  d.statistics.distinct[0] = count;
                }).starts_with(prefix + "it has invalid statistics: 6 tuples"))
        << count;
  EXPECT_TRUE(damaged([](Definition& d) {
                d.directories[0].range.offset = -8;
              }).starts_with(prefix + "it has an invalid part: "));
  EXPECT_TRUE(damaged([](Definition& d) {
                d.directories[0].range.bytes = std::int64_t{1} << 50;
              }).starts_with("IoError: the directory of \"R\" is damaged: the file ends after"));
}

TEST_F(HostileDatabase, RulesOfAbsentTiles) {
  using Rules = std::vector<std::vector<store::KeyRule>>;  // of columns: a rule for each dimension
  const auto damaged = [&](const auto& change) {
    std::filesystem::remove_all(folder_);
    const RelationType type{{{"", {DType::f64, {9, 2}}}}, {3}, Presence::sparse};
    open().store("R", Relation::assemble(
                          type, {{{2}, {Tile::full(DType::f64, {9, 2}, 1)}}}, [](const Key& key) {
                            return std::vector<TileType>{{DType::f64, {5 + key[0] * key[0], 2}}};
                          }));
    Definition changed = definition();
    change(changed.extents.absent.value().columns);
    write(changed);
    return refused();
  };
  EXPECT_EQ(damaged([](Rules&) {}), "nothing was thrown");
  const auto refused_as = [&](const std::string& what, const auto& change) {
    const std::string told = damaged(change);
    EXPECT_TRUE(told.starts_with("IoError: the catalogue entry of \"R\" is damaged: " + what))
        << told;
  };
  const std::string none = "its absent tiles have no valid types";
  refused_as(none, [](Rules& r) { r.clear(); });
  refused_as(none, [](Rules& r) { r.emplace_back(); });
  refused_as(none, [](Rules& r) { r[0].pop_back(); });
  refused_as(none, [](Rules& r) { r[0].push_back(r[0][0]); });
  refused_as(none, [](Rules& r) { r[0][0].parts[0].component = 1; });
  refused_as(none, [](Rules& r) { r[0][0].parts[0].distinct = 4; });
  refused_as(none, [](Rules& r) { r[0][0].parts[0].distinct = 0; });
  refused_as(none, [](Rules& r) { r[0][0].runs[0].length = 0; });
  refused_as(none, [](Rules& r) { r[0][0].runs[0].length = INT64_MAX; });
  refused_as(none, [](Rules& r) { r[0][0].runs[0].value = -1; });
  refused_as(none, [](Rules& r) { r[0][0].runs.pop_back(); });
  refused_as(none, [](Rules& r) { r[0][2].runs[0].value = 3; });  // sparse dimensions, of two
  refused_as("its absent tiles are too large: up to",
             [](Rules& r) { r[0][0].runs[0].value = INT64_MAX; });
}

TEST_F(HostileDatabase, TextsOfDefinitions) {
  const auto read = [](const std::string& type) {
    return message_of([&] {
      Definition into{.name = "R", .type = {}};
      store::read_texts(type, R"({"tuples":0,"nonzeros":0,"min":0,"max":0,"distinct":[]})", into);
    });
  };
  EXPECT_EQ(read(R"({"columns":[],"frontier":[],"presence":"continuous"})"), "nothing was thrown");
  for (
      const std::string bad :
      {"", "[", "null", "{}", R"({"columns":3,"frontier":[],"presence":"continuous"})",
       R"({"columns":[],"frontier":[1e300],"presence":"continuous"})",
       R"({"columns":[],"frontier":[99999999999999999999],"presence":"continuous"})",
       R"({"columns":[],"frontier":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],"presence":"sparse"})",
       R"({"columns":[],"frontier":[],"presence":"never"})",
       R"({"columns":[{"name":"","dtype":"f99","shape":[],"sparse_dims":0}],"frontier":[],"presence":"sparse"})"})
    EXPECT_TRUE(read(bad).starts_with("IoError: cannot read the definition of R: "))
        << bad << " " << read(bad);
}

TEST_F(HostileDatabase, TablesWhoseColumnsAreElsewhere) {
  Session(open()).execute(
      "CREATE TABLE t (i INT, name TEXT, m MATRIX[2][2]); INSERT INTO t VALUES (1, 'a', [[1, 2], "
      "[3, 4]])");
  const std::string was = text("sql/table/t");
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string changed = was;
    const std::size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from << " in " << was;
    set_text("sql/table/t", changed.replace(at, from.size(), to));
    return refused("SELECT * FROM t");
  };
  const std::string prefix = "IoError: cannot read the definition of table \"t\": ";
  EXPECT_TRUE(replaced("\"payload\":0", "\"payload\":7").starts_with(prefix));
  EXPECT_TRUE(replaced("\"payload\":0", "\"payload\":-1").starts_with(prefix));
  EXPECT_TRUE(replaced("\"payload\":0", "\"payload\":1").starts_with(prefix));
  EXPECT_TRUE(replaced("\"payload\":0", "\"nowhere\":1").starts_with(prefix));
  EXPECT_TRUE(replaced("\"key\":\"k0\"", "\"key\":\"k9\"").starts_with(prefix));
  EXPECT_TRUE(replaced("\"key\":\"k0\"", "\"key\":\"k0 +\"").starts_with(prefix));
  EXPECT_TRUE(replaced("\"kind\":5", "\"kind\":77").starts_with(prefix));
  EXPECT_TRUE(replaced("\"columns\":[", "\"columns\":7,\"x\":[").starts_with(prefix));
  EXPECT_TRUE(replaced("{", "").starts_with(prefix));
  EXPECT_EQ(refused("DROP TABLE t"), "nothing was thrown");
}

TEST_F(HostileDatabase, CodesThatAreNoStrings) {
  Session(open()).execute("CREATE TABLE R (name TEXT); INSERT INTO R VALUES ('a')");
  change_record([](std::int64_t* words, const auto& bytes) { words[bytes.size() / 8 - 1] = 99; });
  EXPECT_NE(refused("SELECT * FROM R").find("the text with code 99 is missing"), std::string::npos);
}

TEST_F(HostileDatabase, ViewsRulesVirtualTensorsAndJobs) {
  Session(open()).execute(
      "CREATE TABLE t (i INT); CREATE VIEW v AS SELECT i FROM t; CREATE TENSOR P [4][4] TILE "
      "[2][2] "
      "VIRTUAL; CREATE TABLE f[i:0...] (a) AS SELECT * FROM VALUES (1)");
  const std::string unreadable = "cannot read the definition of";
  const auto says = [&](const std::string& name, const std::string& value, const std::string& sql) {
    set_text(name, value);
    const std::string error = refused(sql);
    EXPECT_TRUE(error.starts_with("IoError: ")) << value << ": " << error;
    EXPECT_NE(error.find(unreadable), std::string::npos) << value << ": " << error;
  };
  for (const std::string bad :
       {"", "{}", "[1]", R"({"columns":[],"query":7})", R"({"columns":[],"query":"SELECT ("})",
        R"({"columns":[3],"query":"SELECT i FROM t"})"})
    says("sql/view/v", bad, "SELECT * FROM v");
  for (const std::string bad :
       {"", R"({"dtype":"f64","shape":[4],"tile":[0],"partition_by":[]})",
        R"({"dtype":"f64","shape":[4],"tile":[2,2],"partition_by":[]})",
        R"({"dtype":"f64","shape":[-4],"tile":[2],"partition_by":[]})",
        R"({"dtype":"f64","shape":[4],"tile":[2],"partition_by":[1]})",
        R"({"dtype":"f64","shape":[4294967296,4294967296],"tile":[2,2],"partition_by":[]})"})
    says("sql/virtual/P", bad, "EXPLAIN CREATE TENSOR Q AS P + 1");
  for (const std::string bad : {"", "SELECT 1", "CREATE TABLE f (a INT)",
                                "CREATE TABLE g[i:0...] (a) AS SELECT * FROM VALUES (1)"})
    says(
        "sql/rule/f\x1f"
        "000000",
        bad, "SELECT * FROM f[0]");
  set_text("sql/rule/x", "CREATE TABLE x[0] (a) AS SELECT * FROM VALUES (1)");
  EXPECT_NE(refused("SELECT * FROM x[0]").find(unreadable), std::string::npos);
  // What cannot be read can be dropped.
  EXPECT_EQ(refused("DROP VIEW v; DROP TENSOR P; DROP TABLE f"), "nothing was thrown");
  for (const std::string bad : {"", "[]", R"({"frames":"x"})", R"({"frames":-1})"}) {
    set_text("job/j1", bad);
    EXPECT_EQ(refused("SHOW JOBS"), "nothing was thrown") << bad;
  }
  EXPECT_EQ(refused("DROP JOB j1"), "nothing was thrown");
}

}  // namespace
}  // namespace tessera
