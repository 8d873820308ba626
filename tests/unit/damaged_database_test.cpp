#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>
#include <xxhash.h>

#include <cstring>
#include <fstream>

#include "store/catalog_file.h"
#include "store/hidden_names.h"
#include "store/segment.h"
#include "support/expectations.h"
#include "tessera/database.h"
#include "tessera/session.h"

// Databases that were left in the middle of something, or of which something is gone.

namespace tessera {
namespace {

namespace fs = std::filesystem;

class DamagedDatabase : public ::testing::Test {
 protected:
  DamagedDatabase() { fs::remove_all(folder_); }
  ~DamagedDatabase() override { fs::remove_all(folder_); }

  Database open(DatabaseOptions options = {}) const { return Database::open(folder_, options); }
  fs::path segment(std::int64_t number) const { return store::segment_path(folder_, number); }
  const fs::path folder_ =
      fs::temp_directory_path() / fmt::format("tessera-damaged-{}.tsdb", ::getpid());
  const Relation relation_ =
      Relation::from_tensor(random_integers(DType::f64, {6, 6}, 1, 0, 100), {2, 2});
};

TEST_F(DamagedDatabase, ACatalogueThatWasBegunIsMadeAgain) {
  fs::create_directories(folder_ / "segments");
  std::ofstream(folder_ / "catalog.1") << "half a catalogue";
  std::ofstream(folder_ / "catalog.2.new") << "half a catalogue";
  std::ofstream(folder_ / "lock") << "1234";
  open().store("A", relation_);
  EXPECT_TRUE(relations_equal(open({.create = false}).read("A"), relation_));
  EXPECT_FALSE(fs::exists(folder_ / "catalog.2.new"));
}

TEST_F(DamagedDatabase, SegmentsWithoutACatalogueAreNotOverwritten) {
  open().store("A", relation_);
  fs::rename(folder_ / "catalog.2", folder_ / "elsewhere");
  fs::rename(folder_ / "catalog.1", folder_ / "too");
  EXPECT_ERROR(IoError, (open(), 0), "is not a Tessera database: the folder has other files in it");
  fs::rename(folder_ / "elsewhere", folder_ / "catalog.2");
  EXPECT_TRUE(relations_equal(open().read("A"), relation_));
}

/// Also where there are no segments that would tell of it.
TEST_F(DamagedDatabase, ACatalogueOfWhichTheSecondFileIsGoneIsAskedFor) {
  for (const char* text : {"CREATE VIEW v AS SELECT 1 AS n", "VACUUM"}) {
    Session(open()).execute(text);
    fs::rename(folder_ / "catalog.2", folder_ / "elsewhere");
    for (const bool create : {true, false})
      EXPECT_ERROR(IoError, (open({.create = create}), 0),
                   "catalog.2 is missing; replace it with a copy");
    fs::copy(folder_ / "catalog.1", folder_ / "catalog.2");  // as the message says
    EXPECT_EQ(Session(open()).query("SELECT n FROM v").rows(), 1);
  }
}

TEST_F(DamagedDatabase, ADatabaseThatWasOnlyBegunIsMadeAgain) {
  (void)open();
  fs::remove(folder_ / "catalog.2");
  open().store("A", relation_);
  EXPECT_TRUE(relations_equal(open().read("A"), relation_));
}

TEST_F(DamagedDatabase, LeftoversGoWhenItIsOpenedToWrite) {
  open().store("A", relation_);
  const auto bytes = fs::file_size(segment(1));
  std::ofstream(segment(1), std::ios::app) << "half a tile";
  std::ofstream(segment(2)) << "half a segment";
  std::ofstream(folder_ / "segments" / "notes.txt") << "somebody's own";
  (void)open({.read_only = true});
  EXPECT_TRUE(fs::exists(segment(2)));
  (void)open();
  EXPECT_FALSE(fs::exists(segment(2)));
  EXPECT_EQ(fs::file_size(segment(1)), bytes);
  EXPECT_TRUE(fs::exists(folder_ / "segments" / "notes.txt"));
}

TEST_F(DamagedDatabase, NothingIsAddedToASegmentThatIsDamaged) {
  Database database = open();
  database.store("A", relation_);
  fs::resize_file(segment(1), fs::file_size(segment(1)) - 30);
  database.store("B", relation_);
  EXPECT_TRUE(relations_equal(database.read("B"), relation_));
  fs::remove(segment(2));
  database.store("C", relation_);
  EXPECT_TRUE(relations_equal(database.read("C"), relation_));
  EXPECT_ERROR(IoError, database.read("B"), "00000002.seg");
  std::vector<std::string> names;
  for (const Damage& damage : database.check()) names.push_back(damage.name);
  EXPECT_EQ(names, (std::vector<std::string>{"A", "B", "", ""}));
}

TEST_F(DamagedDatabase, ASegmentThatHasLostItsHeadIsReadNevertheless) {
  Database database = open();
  database.store("A", relation_);
  std::fstream(segment(1), std::ios::in | std::ios::out) << "somebody wrote here";
  EXPECT_TRUE(relations_equal(database.read("A"), relation_));
  ASSERT_EQ(database.check().size(), 1);
  EXPECT_EQ(database.check()[0].name, "");
  EXPECT_NE(database.check()[0].reason.find("the header of"), std::string::npos);
  database.store("B", relation_);
  EXPECT_TRUE(fs::exists(segment(2)));
}

TEST_F(DamagedDatabase, ASegmentOfANewerFormatIsRefused) {
  Database database = open();
  database.store("A", relation_);
  std::string head(store::segment_head_bytes, '\0');
  std::fstream stream(segment(1), std::ios::in | std::ios::out);
  stream.read(head.data(), store::segment_head_bytes);
  head[8] = 9;  // the version
  std::memset(head.data() + 16, 0, 8);
  const std::uint64_t check = XXH3_64bits(head.data(), head.size());
  std::memcpy(head.data() + 16, &check, 8);
  stream.seekp(0);
  stream << head << std::flush;
  EXPECT_ERROR(IoError, database.read("A"),
               "has format version 9; this program knows versions up to 1: use a newer one");
}

TEST_F(DamagedDatabase, WhatMakesNoSenseInTheCatalogueHidesNothingElse) {
  Database database = open();
  database.store("bad", relation_);
  database.store("good", relation_);
  store::CatalogFile file(folder_, store::Sync::always);
  store::Catalog changed = *file.now();
  const std::string image = changed.image();
  std::string other = image;
  other[other.find("presence")] = 'q';  // of the first one
  store::CommitLog log(folder_, store::Sync::always);
  log.read([](const store::CommitLog::Entry&) {});
  log.rewrite(other);
  EXPECT_ERROR(IoError, database.read("bad"), "cannot read the definition of bad");
  EXPECT_TRUE(relations_equal(database.read("good"), relation_));
  ASSERT_EQ(database.check().size(), 1);
  EXPECT_EQ(database.check()[0].name, "bad");
  EXPECT_FALSE(database.list()[0].damage.empty());
  database.drop("bad");
  EXPECT_TRUE(database.check().empty());
}

TEST_F(DamagedDatabase, WhatUsersDoNotNameIsToldAsTheyKnowIt) {
  Session(open()).execute(
      "CREATE TABLE f[i:0...] AS SELECT [[1, 2], [3, 4]] AS m; MATERIALIZE f[5]");
  fs::resize_file(segment(1), fs::file_size(segment(1)) - 40);
  bool told = false;
  for (const Damage& damage : open().check()) {
    told = told || damage.reason.find("f[5]") != std::string::npos;
    EXPECT_EQ((damage.name + damage.reason).find(store::hidden_mark), std::string::npos);
  }
  EXPECT_TRUE(told);
}

/// A catalogue whose second file is damaged in its last entry is read anew each time that somebody
/// looks.
TEST_F(DamagedDatabase, ACheckOfADamagedCatalogueTellsOfSegmentsToo) {
  Database database = open();
  for (const char* name : {"a", "b", "c"}) database.store(name, relation_);
  const fs::path second = folder_ / "catalog.2";
  std::fstream file(second, std::ios::binary | std::ios::in | std::ios::out);
  constexpr std::streamoff first_entry = 64;
  file.seekp(first_entry);
  file << std::string(fs::file_size(second) - first_entry, '\xff');
  file.close();
  fs::resize_file(segment(1), 100);
  // Who only reads mends nothing: the catalogue, the segment, and what is in it.
  EXPECT_EQ(open({.read_only = true}).check().size(), 1 + 1 + 3);
}

TEST_F(DamagedDatabase, OneOfTheFilesOfTheCatalogueIsEnough) {
  Database database = open();
  database.store("A", relation_);
  database.store("B", relation_);
  for (const char* name : {"catalog.1", "catalog.2"}) {
    std::fstream stream(folder_ / name, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(200);
    stream << "somebody wrote here" << std::flush;
    EXPECT_TRUE(relations_equal(open({.read_only = true}).read("B"), relation_));
    const std::vector<Damage> found = open({.read_only = true}).check();
    ASSERT_EQ(found.size(), 1);
    EXPECT_EQ(found[0].name, "");
    EXPECT_NE(found[0].reason.find(name), std::string::npos);
    open().vacuum();  // or whoever writes next
    EXPECT_TRUE(open().check().empty());
  }
  for (const char* name : {"catalog.1", "catalog.2"}) {
    std::fstream stream(folder_ / name, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(200);
    stream << "somebody wrote here" << std::flush;
  }
  EXPECT_ERROR(IoError, (open(), 0), "the catalogue is damaged: the checksum of commit");
}

TEST_F(DamagedDatabase, ACheckpointRemovesSegmentsThatNothingUses) {
  Database database = open();
  database.store("A", relation_);
  fs::resize_file(segment(1), fs::file_size(segment(1)) - 30);  // so that B begins another
  database.store("B", relation_);
  database.drop("A");
  const auto bytes = fs::file_size(segment(2));
  database.checkpoint();
  EXPECT_FALSE(fs::exists(segment(1)));
  EXPECT_EQ(fs::file_size(segment(2)), bytes);
  EXPECT_TRUE(relations_equal(database.read("B"), relation_));
  EXPECT_TRUE(database.check().empty());
}

TEST_F(DamagedDatabase, AVacuumOpensTheFilesOfOneRelationAtATime) {
  Database database = open();
  for (int i = 0; i < 60; ++i) database.store(fmt::format("T{}", i), relation_);
  for (int i = 0; i < 60; i += 2) database.drop(fmt::format("T{}", i));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{static_cast<rlim_t>(::dup(0)) + 16, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  std::int64_t given_back = 0;
  EXPECT_NO_THROW(given_back = database.vacuum());
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_GT(given_back, 0);
  EXPECT_EQ(database.vacuum(), 0);
  EXPECT_EQ(database.list().size(), 30);
  EXPECT_TRUE(database.check().empty());
}

TEST_F(DamagedDatabase, PlansOverSparseTensorsKnowTheirLayout) {
  const Relation sparse = Relation::from_tensor(random_sparse({DType::f64, {40, 40}, 1}, 3, 0.01),
                                                {4, 4}, Presence::sparse);
  ASSERT_LT(sparse.size(), 100);
  Database database = open();
  database.store("S", sparse);
  EXPECT_EQ(database.plan("S").type(), Plan::input(sparse).type());
  EXPECT_TRUE(relations_equal(database.plan("S").run(), sparse));
}

}  // namespace
}  // namespace tessera
