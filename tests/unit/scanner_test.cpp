#include "base/scanner.h"

#include <gtest/gtest.h>

#include <string>

namespace tessera {
namespace {

constexpr std::string_view arrows[] = {"->", "<-"};

/// The pieces of a text, each with the first letter of its kind; one that does not end is marked.
std::string pieces(std::string_view text, const Script& script) {
  Scanner scanner(text, script);
  std::string all;
  for (Lexeme one = scanner.next(); one.kind != Lexeme::Kind::end; one = scanner.next()) {
    EXPECT_EQ(one.text, text.substr(one.offset, one.text.size()));
    all += "wnqcs"[static_cast<int>(one.kind)];
    all += "(" + std::string(one.text) + (one.ended ? ") " : " ");
  }
  return all;
}

TEST(Scanner, WordsNumbersAndSymbols) {
  EXPECT_EQ(pieces(" ab1 2x<->_\n", {}), "w(ab1) n(2x) s(<) s(-) s(>) w(_) ");
  EXPECT_EQ(pieces("a<->", {.symbols = arrows}), "w(a) s(<-) s(>) ");
  EXPECT_EQ(pieces(" \t\r\n", {}), "");
}

TEST(Scanner, QuotesAndCommentsAreForLanguagesThatHaveThem) {
  EXPECT_EQ(pieces("'a'--b", {}), "s(') w(a) s(') s(-) s(-) w(b) ");
  EXPECT_EQ(pieces("'a''b' \"c'\"", {.quotes = "'\""}), "q('a') q('b') q(\"c'\") ");
  EXPECT_EQ(pieces("'a''b'", {.quotes = "'", .doubles_quotes = true}), "q('a''b') ");
  EXPECT_EQ(pieces("a--b\n/* c */d", {.has_comments = true}), "w(a) c(--b) c(/* c */) w(d) ");
}

TEST(Scanner, WhatDoesNotEndGoesToTheEndOfTheText) {
  EXPECT_EQ(pieces("a 'b c", {.quotes = "'"}), "w(a) q('b c ");
  EXPECT_EQ(pieces("'a''", {.quotes = "'", .doubles_quotes = true}), "q('a'' ");
  EXPECT_EQ(pieces("a /* b", {.has_comments = true}), "w(a) c(/* b ");
  EXPECT_EQ(pieces("a -- b", {.has_comments = true}), "w(a) c(-- b) ");
}

TEST(Scanner, LettersBeyondAsciiAreForLanguagesThatHaveThem) {
  EXPECT_EQ(pieces("a\u00e9", {.has_foreign_letters = true}), "w(a\u00e9) ");
  EXPECT_EQ(pieces("a\u00e9", {}), "w(a) s(\xc3) s(\xa9) ");
}

TEST(Scanner, GoesOnWhereItIsTold) {
  Scanner scanner("1.5e3x", Script{});
  EXPECT_EQ(scanner.next().text, "1");
  scanner.go_to(5);
  EXPECT_EQ(scanner.next().text, "x");
  EXPECT_EQ(scanner.next().offset, 6U);
}

}  // namespace
}  // namespace tessera
