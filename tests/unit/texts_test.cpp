#include <sys/file.h>

#include <thread>

#include "store/catalog.h"
#include "support/database_folder.h"
#include "support/expectations.h"

// What the catalogue keeps for others: texts by name, and strings with their codes.

namespace tessera {
namespace {

using Texts = DatabaseFolder;
using Strings = DatabaseFolder;

const std::map<std::string, std::string> none;

TEST_F(Texts, AreSetReplacedAndRemoved) {
  Database database = open();
  EXPECT_EQ(database.text("view/a"), std::nullopt);
  database.change({.texts = {{"view/a", "SELECT 1"}, {"view/b", ""}, {"views", "x"}}});
  database.change({.texts = {{"view/a", "SELECT 2"}, {"history", std::string("a\0b\xff", 4)}}});
  const Database again = open();
  EXPECT_EQ(again.text("view/a"), "SELECT 2");
  EXPECT_EQ(again.text("history"), std::string("a\0b\xff", 4));
  EXPECT_EQ(again.texts("view/"),
            (std::map<std::string, std::string>{{"view/a", "SELECT 2"}, {"view/b", ""}}));
  EXPECT_EQ(again.texts().size(), 4);
  database.change({.texts = {{"view/a", std::nullopt}, {"never there", std::nullopt}}});
  EXPECT_EQ(again.text("view/a"), std::nullopt);
  EXPECT_EQ(again.texts("view/").size(), 1);
  EXPECT_TRUE(database.check().empty());
}

TEST_F(Texts, ThatAreDamagedAreReportedAndCanBeSetAgain) {
  Database database = open();
  database.change({.texts = {{"bad", "one"}, {"good", "two"}}});
  change_catalogue("UPDATE texts SET value = 'onf' WHERE name = 'bad'");
  const std::string message =
      "what the catalogue says of the text 'bad' is damaged (checksum); restore it from a copy, or "
      "set it again";
  EXPECT_EQ(message_of([&] { (void)database.text("bad"); }), "IoError: " + message);
  EXPECT_EQ(message_of([&] { (void)database.texts(); }), "IoError: " + message);
  EXPECT_EQ(database.text("good"), "two");
  ASSERT_EQ(database.check().size(), 1);
  EXPECT_EQ(database.check()[0].reason, message);
  database.change({.texts = {{"bad", "one"}}});
  EXPECT_TRUE(database.check().empty());
}

TEST_F(Texts, ThatHaveVanishedAreMissed) {
  Database database = open();
  database.change({.texts = {{"one", "1"}, {"two", "2"}}});
  change_catalogue("DROP TRIGGER texts_DELETE; DELETE FROM texts WHERE name = 'one'");
  ASSERT_EQ(database.check().size(), 1);
  EXPECT_EQ(database.check()[0].reason, "the catalogue: ok; rows of texts are missing or damaged");
}

TEST_F(Strings, HaveOneCodeEachForever) {
  Database database = open();
  const std::vector<std::int64_t> codes = database.codes({"red", "green", "red", "", "blue"});
  EXPECT_EQ(codes, (std::vector<std::int64_t>{1, 2, 1, 3, 4}));
  Database other = open();
  EXPECT_EQ(other.codes({"blue", std::string("\0\xff", 2), "green"}),
            (std::vector<std::int64_t>{4, 5, 2}));
  EXPECT_EQ(database.strings({5, 1}), (std::vector<std::string>{std::string("\0\xff", 2), "red"}));
  EXPECT_EQ(open({.read_only = true}).strings({3, 2}), (std::vector<std::string>{"", "green"}));
  EXPECT_EQ(open({.read_only = true}).codes({"blue"}), (std::vector<std::int64_t>{4}));
  EXPECT_EQ(message_of([&] {
              (void)database.strings({1, 17});
            }),
            fmt::format("IoError: there is no string with code 17 in {}", folder_.string()));
  EXPECT_EQ(message_of([&] { (void)open({.read_only = true}).codes({"new"}); }),
            fmt::format("IoError: {} is open for reading only", folder_.string()));
  EXPECT_TRUE(database.codes({}).empty());
  EXPECT_TRUE(database.check().empty());
}

TEST_F(Strings, OfSeveralWhoAskAtOnceAreTheSame) {
  Database database = open();
  std::vector<std::string> words;
  for (int i = 0; i < 60; ++i) words.push_back(fmt::format("word {}", i));
  std::vector<std::vector<std::int64_t>> found(3);
  {
    std::vector<std::jthread> threads;
    for (auto& codes : found)
      threads.emplace_back([&] {
        Database own = open();
        for (const std::string& word : words) codes.push_back(own.codes({word}).at(0));
      });
  }
  EXPECT_EQ(found[0], found[1]);
  EXPECT_EQ(found[0], found[2]);
  EXPECT_EQ(database.strings(found[0]), words);
}

TEST_F(Strings, ThatAreDamagedGetNoSecondCode) {
  open().codes({"red", "green"});
  change_catalogue("UPDATE strings SET value = 'rad' WHERE code = 1");
  Database database = open();
  EXPECT_EQ(database.codes({"green"}), (std::vector<std::int64_t>{2}));
  EXPECT_EQ(message_of([&] { (void)database.strings({1}); }),
            fmt::format("IoError: the string of code 1 in {} is damaged (checksum); restore it "
                        "from a copy",
                        folder_.string()));
  EXPECT_EQ(message_of([&] { database.codes({"red"}); }),
            fmt::format("IoError: no string can be added to {}: the string of code 1 is damaged "
                        "(checksum); restore it from a copy",
                        folder_.string()));
  ASSERT_EQ(database.check().size(), 1);
  EXPECT_EQ(database.check()[0].reason, "the string of code 1 is damaged (checksum)");
}

TEST_F(Strings, ThatHaveVanishedGetNoSecondCode) {
  open().codes({"red", "green"});
  change_catalogue("DROP TRIGGER strings_DELETE; DELETE FROM strings WHERE code = 1");
  Database database = open();
  EXPECT_ERROR(IoError, database.codes({"red"}), "rows of strings are missing or damaged");
  EXPECT_EQ(database.check().size(), 1);
}

/// As the program of version 1 has left it.
class OldDatabase : public DatabaseFolder {
 protected:
  OldDatabase() {
    open().store("A", relation_);
    change_catalogue(
        "DROP TABLE texts; DROP TABLE strings; DELETE FROM sqlite_sequence WHERE name = 'strings'; "
        "DELETE FROM totals WHERE name IN ('texts', 'strings'); PRAGMA user_version = 1");
  }
  std::int64_t version() const {
    return store::Sqlite(folder_ / "catalog.sqlite", store::Sqlite::Mode::read)
        .integer("PRAGMA user_version");
  }

  const Relation relation_ =
      Relation::from_tensor(random_integers(DType::f64, {6, 6}, 1, 0, 100), {2, 2});
};

TEST_F(OldDatabase, IsReadAsItIs) {
  const Database database = open({.read_only = true});
  EXPECT_TRUE(relations_equal(database.read("A"), relation_));
  EXPECT_EQ(database.texts(), none);
  EXPECT_EQ(database.text("a"), std::nullopt);
  EXPECT_ERROR(IoError, database.strings({1}), "there is no string with code 1");
  EXPECT_TRUE(database.check().empty());
  EXPECT_EQ(version(), 1);
}

TEST_F(OldDatabase, IsUpgradedWhenItIsOpenedToWrite) {
  Database database = open();
  EXPECT_EQ(version(), 2);
  EXPECT_TRUE(relations_equal(database.read("A"), relation_));
  database.change({.texts = {{"a", "b"}}});
  EXPECT_EQ(database.codes({"red"}), (std::vector<std::int64_t>{1}));
  EXPECT_EQ(open().text("a"), "b");
  EXPECT_TRUE(database.check().empty());
}

TEST_F(OldDatabase, IsLeftAloneWhenItCannotBeUpgraded) {
  const File held = File::open_to_write(folder_ / "lock");
  ASSERT_EQ(::flock(held.descriptor(), LOCK_EX), 0);
  const std::string message = message_of([&] { open({.lock_seconds = 0.01}); });
  EXPECT_NE(message.find("was written by an older version"), std::string::npos) << message;
  EXPECT_NE(message.find("is being written to by process"), std::string::npos) << message;
  EXPECT_EQ(version(), 1);
}

TEST_F(OldDatabase, WhoseUpgradeWasUndoneIsStillOld) {
  store::Catalog(folder_, store::Catalog::Mode::write).settle();
  EXPECT_EQ(version(), 1);
}

}  // namespace
}  // namespace tessera
