#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "shell/completion.h"

namespace tessera::shell {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

const KnownNames known{
    {{"people", {"id", "age", "name"}}, {"pets", {"id", "owner"}}, {"odd name", {"x y"}}},
    {"matmul", "matrix_multiply", "sum_elements"},
    {"memory_limit", "threads"}};

Words candidates(std::string_view text) { return complete(text, known).candidates; }

TEST(Completion, AStatementBeginsWithAFewWords) {
  EXPECT_EQ(candidates("SEL"), Words{"SELECT"});
  EXPECT_EQ(candidates("sel"), Words{"select"});
  EXPECT_EQ(candidates("SELECT 1; DES"), Words{"DESCRIBE"});
  EXPECT_EQ(candidates("-- SELECT\nSH"), Words{"SHOW"});
  EXPECT_EQ(candidates("pe"), Words{});
  EXPECT_EQ(candidates("E"), (Words{"EXECUTE", "EXPLAIN"}));
}

TEST(Completion, TheWordThatIsCompletedIsTheLast) {
  EXPECT_EQ(complete("SELECT name FROM peo", known).begin, 17u);
  EXPECT_EQ(complete("SELECT matmul(", known).begin, 14u);
}

TEST(Completion, TablesComeAfterFromAndItsLike) {
  EXPECT_EQ(candidates("SELECT 1 FROM pe"), (Words{"people", "pets"}));
  EXPECT_EQ(candidates("SELECT 1 FROM PE"), (Words{"people", "pets"}));
  EXPECT_EQ(candidates("INSERT INTO pet"), Words{"pets"});
  EXPECT_EQ(candidates("describe o"), Words{"\"odd name\""});
  EXPECT_EQ(candidates("SELECT 1 FROM people JOIN pet"), Words{"pets"});
}

TEST(Completion, ColumnsAreThoseOfTheTablesThatAreNamed) {
  EXPECT_EQ(candidates("SELECT ow"), Words{"owner"});
  EXPECT_EQ(candidates("SELECT 1 FROM people WHERE ow"), Words{});
  EXPECT_EQ(candidates("SELECT 1 FROM people WHERE ag"), Words{"age"});
  EXPECT_EQ(candidates("SELECT people.a"), Words{"age"});
  EXPECT_EQ(candidates("SELECT people."), (Words{"age", "id", "name"}));
  EXPECT_EQ(candidates("SELECT 1 FROM pets AS p WHERE p.o"), Words{"owner"});
  EXPECT_EQ(candidates("SELECT 1 FROM pets q, people p WHERE q.o"), Words{"owner"});
  EXPECT_EQ(candidates("SELECT 1 FROM pets WHERE nobody.o"), Words{});
}

TEST(Completion, FunctionsKeywordsAndSettings) {
  EXPECT_EQ(candidates("SELECT mat"), (Words{"matmul", "matrix", "matrix_multiply"}));
  EXPECT_EQ(candidates("SELECT su"), (Words{"sum", "sum_elements"}));
  EXPECT_EQ(candidates("SELECT 1 WHER"), Words{"WHERE"});
  EXPECT_EQ(candidates("SET me"), Words{"memory_limit"});
  EXPECT_EQ(candidates("reset t"), Words{"threads"});
  EXPECT_EQ(candidates("SHOW T"), (Words{"TABLES", "TENSORS"}));
  EXPECT_EQ(candidates("EXPLAIN SEL"), Words{"SELECT"});
}

TEST(Completion, NothingInsideOfStringsAndComments) {
  EXPECT_EQ(candidates("SELECT 'pe"), Words{});
  EXPECT_EQ(candidates("SELECT 1 -- pe"), Words{});
  EXPECT_EQ(candidates("SELECT /* pe"), Words{});
  EXPECT_EQ(candidates("SELECT 'it''s' FROM pet"), Words{"pets"});
}

TEST(Completion, DotCommandsAndTheirArguments) {
  EXPECT_EQ(candidates(".t"), (Words{".tables", ".timer"}));
  EXPECT_EQ(candidates(".mode c"), Words{"csv"});
  EXPECT_EQ(candidates(".timer "), (Words{"off", "on"}));
  EXPECT_EQ(candidates(".schema pe"), (Words{"people", "pets"}));
  EXPECT_EQ(complete(".schema pe", known).begin, 8u);
  EXPECT_EQ(candidates(".help x"), Words{});
}

TEST(Completion, FilesForCommandsThatTakeThem) {
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / ("completion." + std::to_string(::getpid()));
  std::filesystem::create_directories(folder / "queries");
  std::ofstream(folder / "quick.sql") << "";
  std::ofstream(folder / ".hidden") << "";
  const std::string name = folder.string() + "/";
  EXPECT_EQ(candidates(".read " + name), (Words{name + "queries/", name + "quick.sql"}));
  EXPECT_EQ(candidates(".import " + name + "qui"), Words{name + "quick.sql"});
  EXPECT_EQ(candidates(".read " + name + ".h"), Words{name + ".hidden"});
  EXPECT_EQ(candidates(".open " + name + "none/x"), Words{});
  EXPECT_EQ(candidates(".schema " + name), Words{});
  std::filesystem::remove_all(folder);
}

/// Files in a folder of the test's own, of which the process is in that folder.
class CompletionOfFiles : public ::testing::Test {
 protected:
  CompletionOfFiles() {
    fs::create_directories(folder_ / "data");
    fs::create_directories(folder_ / "two words");
    std::ofstream(folder_ / "data" / "x.npy") << "";
    std::ofstream(folder_ / "it's.csv") << "";
    fs::current_path(folder_);
  }
  ~CompletionOfFiles() override {
    fs::current_path(before_);
    fs::remove_all(folder_);
  }
  const fs::path before_ = fs::current_path();
  const fs::path folder_ =
      fs::path(::testing::TempDir()) / ("quoted." + std::to_string(::getpid()));
};

TEST_F(CompletionOfFiles, InTheQuotesOfStatementsThatTakeThem) {
  EXPECT_EQ(candidates("COPY people TO 'da"), Words{"data/"});
  EXPECT_EQ(candidates("CREATE TENSOR X FROM 'data/"), Words{"data/x.npy"});
  EXPECT_EQ(candidates("COPY people from 'tw"), Words{"two words/"});
  const Completion file = complete("COPY people FROM 'data/x", known);
  EXPECT_EQ(file.begin, 18u);
  EXPECT_EQ(file.end, '\'');
  EXPECT_EQ(candidates("COPY people FROM 'data/x.npy' WITH (form"), Words{"format"});
  EXPECT_EQ(candidates("SELECT 1 FROM people WHERE name = 'da"), Words{});
  EXPECT_EQ(candidates("SELECT 1 FROM \"da"), Words{});
  EXPECT_EQ(candidates("'da"), Words{});
}

TEST_F(CompletionOfFiles, AQuoteInANameIsDoubled) {
  EXPECT_EQ(candidates("COPY people TO 'it"), Words{"it''s.csv"});
  EXPECT_EQ(candidates("COPY people TO 'it''s"), Words{"it''s.csv"});
}

TEST_F(CompletionOfFiles, InTheQuotesOfCommands) {
  const Completion file = complete(".read 'two w", known);
  EXPECT_EQ(file.candidates, Words{"two words/"});
  EXPECT_EQ(file.begin, 7u);
  EXPECT_EQ(file.end, '\'');
  EXPECT_EQ(complete(".read \"da", known).end, '"');
  EXPECT_EQ(complete(".read 'a b' da", known).begin, 12u);
  EXPECT_EQ(complete(".read da", known).end, ' ');
}

TEST(Completion, WhatCandidatesHaveInCommon) {
  EXPECT_EQ(common_beginning({"people", "pets"}), "pe");
  EXPECT_EQ(common_beginning({"Matrix", "matmul"}), "Mat");
  EXPECT_EQ(common_beginning({"one"}), "one");
  EXPECT_EQ(common_beginning({}), "");
  EXPECT_EQ(common_beginning({"a", "b"}), "");
}

}  // namespace
}  // namespace tessera::shell
