#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "display/error_text.h"
#include "display/tensor_text.h"
#include "shell/dot_commands.h"
#include "shell/progress_bar.h"
#include "shell/statement_reader.h"

namespace tessera::shell {

using display::corner_text;
using display::error_text;
using display::type_text;
namespace {

TEST(StatementReader, StatementsEndWithASemicolonAtTheEndOfALine) {
  StatementReader reader;
  EXPECT_FALSE(reader.add("SELECT 1"));
  EXPECT_TRUE(reader.is_waiting());
  const auto piece = reader.add("  + 2;");
  ASSERT_TRUE(piece);
  EXPECT_EQ(piece->text, "SELECT 1\n  + 2;\n");
  EXPECT_EQ(piece->line, 1);
  EXPECT_FALSE(piece->is_command);
  EXPECT_FALSE(reader.is_waiting());
  EXPECT_EQ(reader.add("SELECT 3; SELECT 4;")->line, 3);
}

TEST(StatementReader, StringsCommentsAndParenthesesDoNotEndOne) {
  StatementReader reader;
  EXPECT_FALSE(reader.add("SELECT 'a;"));
  EXPECT_FALSE(reader.add(".help'  -- ;"));
  EXPECT_FALSE(reader.add("/* ;"));
  EXPECT_FALSE(reader.add("*/ + (1;"));
  EXPECT_TRUE(reader.add(");"));
  EXPECT_FALSE(reader.add("SELECT 1; /* the end is not"));
  EXPECT_TRUE(reader.add("here */"));
}

TEST(StatementReader, CommandsAreLinesWhereNoStatementIsUnderWay) {
  StatementReader reader;
  EXPECT_FALSE(reader.add("-- first a comment"));
  EXPECT_FALSE(reader.is_waiting());
  EXPECT_FALSE(reader.add(""));
  const auto command = reader.add("  .mode csv");
  ASSERT_TRUE(command);
  EXPECT_TRUE(command->is_command);
  EXPECT_EQ(command->text, ".mode csv");
  EXPECT_EQ(command->line, 3);
  EXPECT_FALSE(reader.add("SELECT 1"));
  EXPECT_FALSE(reader.add(".5"));  // a number on a line of its own
  EXPECT_EQ(reader.rest()->text, "SELECT 1\n.5\n");
}

TEST(StatementReader, WhatIsLeftAtTheEnd) {
  StatementReader reader;
  EXPECT_FALSE(reader.rest());
  EXPECT_FALSE(reader.add("  /* nothing */ -- at all"));
  EXPECT_FALSE(reader.rest());
  EXPECT_FALSE(reader.add("/* it does not end"));
  EXPECT_TRUE(reader.rest());  // which is an error to be told
  EXPECT_FALSE(reader.add("SELECT 1\r"));
  EXPECT_EQ(reader.rest()->text, "SELECT 1\n");
}

TEST(ShellErrors, TheMarkStandsBelowThePlace) {
  const StatementError error("TypeError", "no such thing", 2, 8);
  EXPECT_EQ(error_text(error, "SELECT 1,\n\tSELECT nope\n;", {"a.sql", 10}, 0, false),
            "TypeError: no such thing\n"
            "a.sql:11:  SELECT nope\n"
            "                 ^\n");
  const StatementError beyond("ParseError", "the text ends here", 1, 50);
  EXPECT_EQ(error_text(beyond, "SELECT", {}, 0, false),
            "ParseError: the text ends here\n"
            "line 1: SELECT\n"
            "              ^\n");
}

TEST(ShellErrors, LongLinesAreCutAroundThePlace) {
  const std::string text = std::string(5000, 'a') + "HERE" + std::string(5000, 'b');
  const std::string said =
      error_text(StatementError("TypeError", "x", 1, 5001), text, {}, 60, false);
  std::istringstream lines(said);
  std::string message, line, mark;
  std::getline(lines, message);
  std::getline(lines, line);
  std::getline(lines, mark);
  EXPECT_LE(line.size(), 64u);  // two marks of three bytes are one column each
  EXPECT_NE(line.find("HERE"), std::string::npos);
  EXPECT_EQ(line.find("HERE"), mark.size() - 1 + 2);
}

TEST(TensorText, SmallOnesAreShownWholeAndOthersByACorner) {
  EXPECT_EQ(corner_text(Tile::of<double>({2, 2}, {1, 2.5, 3, 1e-9})), "[[1 2.5] [3 1e-09]]");
  EXPECT_EQ(corner_text(Tile::zeros(DType::i64, {100})), "[0 0 0 0 …]");
  EXPECT_EQ(corner_text(Tile::zeros(DType::boolean, {3, 2, 9})),
            "[[[false false false false …] [false false false false …]] "
            "[[false false false false …] [false false false false …]] …]");
  EXPECT_EQ(corner_text(Tile::zeros(DType::f64, {0})), "[]");
  EXPECT_EQ(corner_text(random_sparse({DType::f64, {50}, 1}, 1, 0.0)), "[0 0 0 0 …]");
  EXPECT_EQ(type_text({DType::f64, {3, 4}}), "MATRIX[3][4]");
}

TEST(ShellProgress, SaysHowFarHowLongAndHowMuch) {
  Progress progress;
  progress.flops = 100;
  progress.flops_done = 50;
  progress.seconds_left = 61.2;
  progress.bytes_live = 5'000'000;
  EXPECT_EQ(progress_text(progress, 3, 80),
            "[###############               ]  50%  61 s left  5.00 MB");
  EXPECT_EQ(progress_text(std::nullopt, 130, 80), "running for 2 min 10 s");
  EXPECT_EQ(progress_text(std::nullopt, 13, 10), "running …");
}

TEST(DotCommands, WordsMayBeQuoted) {
  EXPECT_EQ(words_of(".read 'a b' \"c'd\" e"),
            (std::vector<std::string>{".read", "a b", "c'd", "e"}));
  EXPECT_EQ(words_of("  x\ty  "), (std::vector<std::string>{"x", "y"}));
  EXPECT_THROW(words_of("'a"), TypeError);
}

}  // namespace
}  // namespace tessera::shell
