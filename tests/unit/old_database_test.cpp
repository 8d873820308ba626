#include "support/old_database.h"

#include <sys/file.h>

#include "base/file.h"
#include "store/old_catalog.h"
#include "store/sqlite.h"
#include "support/database_folder.h"
#include "support/expectations.h"
#include "tessera/session.h"

// Databases of the versions 1 and 2, whose catalogues were files of SQLite.

namespace tessera {
namespace {

class OldDatabase : public DatabaseFolder {
 protected:
  void make(int version) {
    Database database = open();
    database.store("A", relation_);
    database.store("B", database.plan("A").transform("neg"));
    if (version == 2)
      database.change({.texts = {{"a", "b"},
                                 {"sql/rule/f/000000", "CREATE TABLE f[0] AS SELECT 1 AS n"},
                                 {"sql/table/f[5]", "{}"},
                                 {"sql/table/g[5]", "{}"}}});
    make_old(folder_, version);
  }
  bool is_old() const { return store::has_old_catalogue(folder_); }

  const Relation relation_ =
      Relation::from_tensor(random_integers(DType::f64, {6, 6}, 1, 0, 100), {2, 2});
};

TEST_F(OldDatabase, IsReadAsItIs) {
  make(1);
  const Database database = open({.read_only = true});
  EXPECT_TRUE(relations_equal(database.read("A"), relation_));
  EXPECT_TRUE(database.texts().empty());
  EXPECT_EQ(database.history().size(), 1);
  EXPECT_TRUE(database.check().empty());
  EXPECT_TRUE(is_old());
}

TEST_F(OldDatabase, IsUpgradedWhenItIsOpenedToWrite) {
  for (const int version : {1, 2}) {
    std::filesystem::remove_all(folder_);
    make(version);
    Database database = open();
    EXPECT_FALSE(is_old());
    EXPECT_FALSE(std::filesystem::exists(folder_ / "catalog.sqlite"));
    EXPECT_TRUE(relations_equal(database.read("A"), relation_));
    EXPECT_EQ(database.history().size(), 1);
    EXPECT_EQ(database.text("a"), version == 2 ? std::optional<std::string>("b") : std::nullopt);
    database.store("C", relation_);
    EXPECT_EQ(names_in(open()), "A B C");
    EXPECT_TRUE(database.check().empty());
  }
}

TEST_F(OldDatabase, KeepsItsStrings) {
  make(2);
  EXPECT_EQ(open({.read_only = true}).snapshot().strings({2, 1}),
            (std::vector<std::string>{"green", "red"}));
  Database database = open();
  database.checkpoint();
  EXPECT_EQ(open().snapshot().strings({1}), (std::vector<std::string>{"red"}));
  EXPECT_ERROR(IoError, database.snapshot().strings({3}), "the text with code 3 is missing");
}

TEST_F(OldDatabase, VersionsOfTablesGetARoomOfTheirOwn) {
  make(2);
  const auto texts = open().texts("sql/");
  EXPECT_TRUE(texts.contains("sql/version/f[5]"));
  EXPECT_TRUE(texts.contains("sql/table/g[5]"));  // there are no rules for g: it is just a name
  EXPECT_TRUE(texts.contains(std::string("sql/rule/f\x1f") + "000000"));
  EXPECT_EQ(texts.size(), 3);
}

TEST_F(OldDatabase, IsLeftAloneWhenItCannotBeUpgraded) {
  make(1);
  const File held = File::open_to_write(folder_ / "lock");
  ASSERT_EQ(::flock(held.descriptor(), LOCK_EX), 0);
  const std::string message = message_of([&] { open({.lock_seconds = 0.01}); });
  EXPECT_NE(message.find("was written by an older version"), std::string::npos) << message;
  EXPECT_NE(message.find("is writing to it and has not finished"), std::string::npos) << message;
  EXPECT_TRUE(is_old());
}

TEST_F(OldDatabase, ThatIsDamagedIsNotUpgraded) {
  for (const char* damage :
       {"UPDATE tensors SET bytes = bytes + 1 WHERE name = 'A'", "DELETE FROM tensors",
        "UPDATE segments SET bytes = bytes + 1", "DELETE FROM texts WHERE name = 'a'",
        "UPDATE strings SET value = 'rad' WHERE code = 1", "PRAGMA user_version = 7"}) {
    std::filesystem::remove_all(folder_);
    make(2);
    store::Sqlite(folder_ / "catalog.sqlite", store::Sqlite::Mode::write).execute(damage);
    EXPECT_ERROR(IoError, (open(), 0), "damaged");
    EXPECT_ERROR(IoError, (open({.read_only = true}), 0), "damaged");
    EXPECT_TRUE(is_old());
  }
}

}  // namespace
}  // namespace tessera
