#include <fstream>

#include "store/string_block.h"
#include "support/database_folder.h"
#include "support/expectations.h"

// What a database keeps for others: texts by name, and the strings whose codes tuples hold.

namespace tessera {
namespace {

using Texts = DatabaseFolder;
using Strings = DatabaseFolder;

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

/// A relation of scalars that are codes of strings.
Relation codes_of(const std::vector<std::string>& strings, std::int64_t from = 0) {
  std::vector<Tuple> tuples;
  for (const std::string& string : strings)
    tuples.push_back({{from++}, {Tile::scalar(code_of(string))}});
  return Relation::of(std::move(tuples), Presence::partial);
}

Changes with_strings(const std::string& name, Changes changes,
                     const std::vector<std::string>& strings) {
  changes.string_columns[name] = {0};
  changes.strings_of = [strings](const std::vector<std::int64_t>& codes) {
    std::vector<std::string> found;
    for (const std::int64_t code : codes)
      for (const std::string& string : strings)
        if (code_of(string) == code) found.push_back(string);
    return found;
  };
  return changes;
}

using Many = std::vector<std::string>;

TEST_F(Strings, GoWithTheRelationsThatUseThem) {
  const Many words{"red", "", std::string("\0\xff", 2), "a longer one, of some length"};
  std::vector<std::int64_t> codes;
  for (const std::string& word : words) codes.push_back(code_of(word));
  Database database = open();
  database.change(with_strings("A", {.appended = {{"A", codes_of(words)}}}, words));
  EXPECT_EQ(open({.read_only = true}).snapshot().strings(codes), words);
  database.change(with_strings("B", {.results = {{"B", Plan::input(codes_of({"red", "blue"}))}}},
                               {"red", "blue"}));
  EXPECT_EQ(database.snapshot().strings({code_of("blue"), code_of("red")}), (Many{"blue", "red"}));
  database.rename("A", "C");
  database.vacuum();
  EXPECT_EQ(open().snapshot().strings(codes), words);
  database.drop("C");
  EXPECT_EQ(message_of([&] { (void)database.snapshot().strings({code_of("")}); }),
            fmt::format("IoError: the text with code {} is missing in {}", code_of(""),
                        folder_.string()));
  EXPECT_EQ(database.snapshot().strings({code_of("red")}), (Many{"red"}));
  database.drop("B");
  database.vacuum();
  EXPECT_TRUE(segments().empty());
  EXPECT_TRUE(database.check().empty());
}

/// What a crafted text could do: it says that it is another one's.
TEST_F(Strings, OfTheSameHashAreNotTakenForEachOther) {
  Database database = open();
  const auto stored_as = [&](const std::string& name, const std::string& string, std::int64_t at) {
    Changes changes{.appended = {{name, codes_of({"red"}, at)}}, .string_columns = {{name, {0}}}};
    changes.strings_of = [&](const auto&) { return Many{string}; };
    database.change(changes);
  };
  const std::string refusal =
      "the texts 'red' and 'other' have the same hash and cannot be stored together";
  const auto opened = [&](const Many& names) {
    const Snapshot snapshot = database.snapshot();
    for (const std::string& name : names) (void)snapshot.plan(name);
    return message_of([&] { (void)snapshot.strings({code_of("red")}); });
  };
  stored_as("A", "red", 0);
  stored_as("B", "other", 0);
  EXPECT_EQ(opened({"A"}), "nothing was thrown");
  EXPECT_EQ(opened({"A", "B"}), "ValueError: " + refusal);
  stored_as("A", "other", 1);  // beside the one that is there
  EXPECT_EQ(opened({"A"}), "ValueError: " + refusal);
  EXPECT_EQ(message_of([&] {
              for (std::int64_t at = 2; at < 100; ++at) stored_as("A", "other", at);
            }),
            "ValueError: " + refusal)
      << "when blocks are merged";
}

TEST_F(Strings, OfAStatementThatFailsAreNotKept) {
  Database database = open();
  const Changes bad =
      with_strings("A", {.dropped = {"nothing"}, .appended = {{"A", codes_of({"red"})}}}, {"red"});
  EXPECT_ERROR(TypeError, (database.change(bad), 0), "relation \"nothing\" not found");
  EXPECT_ERROR(IoError, database.snapshot().strings({code_of("red")}), "the text with code");
  EXPECT_TRUE(segments().empty());
}

TEST_F(Strings, OfManyAppendsLieInFewBlocks) {
  Database database = open();
  std::vector<std::int64_t> codes;
  Many words;
  for (int i = 0; i < 200; ++i) {
    words.push_back(fmt::format("word {}", i % 50));
    codes.push_back(code_of(words.back()));
    database.change(with_strings("A", {.appended = {{"A", codes_of({words.back()}, i)}}}, words));
  }
  EXPECT_LE(catalogue()->find("A")->strings.size(), 33);
  EXPECT_EQ(database.snapshot().strings(codes), words);
  EXPECT_TRUE(database.check().empty());
}

TEST_F(Strings, ThatAreDamagedAreToldWithTheirRelation) {
  Database database = open();
  database.change(with_strings("A", {.appended = {{"A", codes_of({"a very special word"})}}},
                               {"a very special word"}));
  const std::filesystem::path file = segments().at(0);
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  std::string bytes(std::filesystem::file_size(file), '\0');
  stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  stream.seekp(static_cast<std::streamoff>(bytes.find("special")));
  stream << 'S' << std::flush;
  ASSERT_EQ(database.check().size(), 1);
  EXPECT_EQ(database.check()[0].name, "A");
  EXPECT_ERROR(IoError, database.snapshot().strings({code_of("a very special word")}),
               "a block of the texts of \"A\" is damaged");
}

TEST(StringBlock, SaysTheSameOfTheSameStrings) {
  store::Strings one, other;
  other.reserve(1000);
  for (std::int64_t i = 0; i < 50; ++i) {
    one[i * 7919 % 50] = fmt::format("word {}", i * 7919 % 50);
    other[49 - i] = fmt::format("word {}", 49 - i);
  }
  const std::vector<std::int64_t> block = store::to_numbers(one);
  EXPECT_EQ(block, store::to_numbers(other));
  EXPECT_EQ(store::strings_of(block, "it"), one);
  EXPECT_EQ(store::strings_of(store::to_numbers(store::Strings()), "it"), store::Strings());
}

TEST(StringBlock, ThatIsCutOffIsRefused) {
  const store::Strings strings{{1, "a text of more than one number"}, {-5, "another such text"}};
  std::vector<std::int64_t> block = store::to_numbers(strings);
  while (!block.empty()) {
    block.pop_back();
    EXPECT_ERROR(IoError, store::strings_of(block, "this block"), "this block is damaged");
  }
}

}  // namespace
}  // namespace tessera
