#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>
#include <xxhash.h>

#include <cstring>
#include <fstream>

#include "store/catalog.h"
#include "store/segment.h"
#include "support/expectations.h"
#include "tessera/database.h"

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
  void change_catalogue(const std::string& sql) const {
    store::Sqlite(folder_ / "catalog.sqlite", store::Sqlite::Mode::write).execute(sql);
  }

  const fs::path folder_ =
      fs::temp_directory_path() / fmt::format("tessera-damaged-{}.tsdb", ::getpid());
  const Relation relation_ =
      Relation::from_tensor(random_integers(DType::f64, {6, 6}, 1, 0, 100), {2, 2});
};

TEST_F(DamagedDatabase, ACatalogueThatWasBegunIsMadeAgain) {
  fs::create_directories(folder_ / "segments");
  std::ofstream(folder_ / store::unfinished_catalogue) << "half a catalogue";
  std::ofstream(folder_ / "lock") << "1234";
  open().store("A", relation_);
  EXPECT_TRUE(relations_equal(open({.create = false}).read("A"), relation_));
  EXPECT_FALSE(fs::exists(folder_ / store::unfinished_catalogue));
}

TEST_F(DamagedDatabase, SegmentsWithoutACatalogueAreNotOverwritten) {
  open().store("A", relation_);
  fs::rename(folder_ / "catalog.sqlite", folder_ / "elsewhere");
  EXPECT_ERROR(IoError, (open(), 0), "is not a Tessera database, and is not empty");
  fs::rename(folder_ / "elsewhere", folder_ / "catalog.sqlite");
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
  EXPECT_NE(database.check()[0].reason.find("the head of"), std::string::npos);
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

TEST_F(DamagedDatabase, ARowOfTheCatalogueThatWasChangedHidesNoOther) {
  Database database = open();
  database.store("bad", relation_);
  database.store("good", relation_);
  change_catalogue("UPDATE tensors SET bytes = bytes + 1 WHERE name = 'bad'");
  EXPECT_ERROR(IoError, database.read("bad"), "what the catalogue says of bad is damaged");
  EXPECT_TRUE(relations_equal(database.read("good"), relation_));
  ASSERT_EQ(database.check().size(), 1);
  EXPECT_EQ(database.check()[0].name, "bad");
  EXPECT_ERROR(IoError, (database.rename("bad", "worse"), 0), "is damaged");
  database.drop("bad");
  EXPECT_TRUE(database.check().empty());
}

TEST_F(DamagedDatabase, ASegmentThatTheCatalogueHasForgottenIsNoLeftover) {
  Database database = open();
  database.store("A", relation_);
  change_catalogue("DROP TRIGGER segments_DELETE; DELETE FROM segments");
  EXPECT_ERROR(IoError, (database.store("B", relation_), 0),
               "what the catalogue says of the segments is damaged");
  EXPECT_TRUE(fs::exists(segment(1)));
  EXPECT_TRUE(relations_equal(database.read("A"), relation_));
  EXPECT_FALSE(database.check().empty());
}

TEST_F(DamagedDatabase, ARowThatHasVanishedIsMissed) {
  Database database = open();
  database.store("A", relation_);
  change_catalogue("DROP TRIGGER tensors_DELETE; DELETE FROM tensors");
  ASSERT_EQ(database.check().size(), 1);
  EXPECT_NE(database.check()[0].reason.find("rows of tensors are missing"), std::string::npos);
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
