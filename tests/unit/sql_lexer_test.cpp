#include <gtest/gtest.h>

#include "base/characters.h"
#include "lang/characters.h"
#include "lang/lexer.h"

namespace tessera::lang {
namespace {

using Kind = Token::Kind;

std::vector<Token> tokens(std::string_view text) {
  Lexer lexer(text);
  std::vector<Token> found;
  do found.push_back(lexer.next());
  while (found.back().kind != Kind::end);
  found.pop_back();
  return found;
}

std::vector<std::string> texts(std::string_view text) {
  std::vector<std::string> found;
  for (const Token& token : tokens(text)) found.emplace_back(token.text);
  return found;
}

using Texts = std::vector<std::string>;

TEST(Lexer, WordsNumbersStringsAndSymbols) {
  const auto found = tokens("SELECT _a1, \"a \"\"b\", 'it''s', 42, 1.5 größe");
  ASSERT_EQ(found.size(), 11U);
  const Kind kinds[] = {Kind::word,   Kind::word,    Kind::symbol, Kind::quoted_name,
                        Kind::symbol, Kind::string,  Kind::symbol, Kind::integer,
                        Kind::symbol, Kind::decimal, Kind::word};
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i].kind, kinds[i]) << i;
  EXPECT_EQ(unquoted(found[3]), "a \"b");
  EXPECT_EQ(unquoted(found[5]), "it's");
  EXPECT_EQ(found[7].integer, 42);
  EXPECT_EQ(found[9].decimal, 1.5);
  EXPECT_EQ(found[10].text, "größe");
}

TEST(Lexer, ADotBeforeAnotherIsNotPartOfANumber) {
  EXPECT_EQ(texts("0...50"), (Texts{"0", "...", "50"}));
  EXPECT_EQ(texts("i-2...i-1"), (Texts{"i", "-", "2", "...", "i", "-", "1"}));
  EXPECT_EQ(texts("1.5...2.5"), (Texts{"1.5", "...", "2.5"}));
  EXPECT_EQ(texts("0....5"), (Texts{"0", "...", ".5"}));
  EXPECT_EQ(texts("[i:1...]"), (Texts{"[", "i", ":", "1", "...", "]"}));
  EXPECT_EQ(texts("t.a t.* .5 5. 1.e2 1E+2 1e-2"),
            (Texts{"t", ".", "a", "t", ".", "*", ".5", "5.", "1.e2", "1E+2", "1e-2"}));
}

TEST(Lexer, NumbersHaveTheirValues) {
  EXPECT_EQ(tokens("9223372036854775807")[0].integer, INT64_MAX);
  EXPECT_FALSE(tokens("9223372036854775807")[0].wants_minus);
  EXPECT_EQ(tokens("9223372036854775808")[0].integer, INT64_MIN);
  EXPECT_TRUE(tokens("9223372036854775808")[0].wants_minus);
  EXPECT_EQ(tokens("007")[0].integer, 7);
  EXPECT_EQ(tokens("1.e2")[0].decimal, 100);
  EXPECT_EQ(tokens(".5")[0].decimal, 0.5);
  EXPECT_EQ(tokens("0.00000001")[0].decimal, 1e-8);
  EXPECT_EQ(tokens("1.7976931348623157e308")[0].decimal, 1.7976931348623157e308);
  EXPECT_EQ(tokens("5e-324")[0].decimal, 5e-324);
}

TEST(Lexer, TheLongestSymbolIsTaken) {
  EXPECT_EQ(texts("-> <- <= >= <> != == = < > :: : @ || | ... . %"),
            (Texts{"->", "<-", "<=", ">=", "<>", "!=", "==", "=", "<", ">", "::", ":", "@", "||",
                   "|", "...", ".", "%"}));
  EXPECT_EQ(texts("a<=b<>c"), (Texts{"a", "<=", "b", "<>", "c"}));
  EXPECT_EQ(texts("((i,j),+/v)|{}"),
            (Texts{"(", "(", "i", ",", "j", ")", ",", "+", "/", "v", ")", "|", "{", "}"}));
}

TEST(Lexer, CommentsAreBlanks) {
  EXPECT_EQ(texts("a -- b\nc /* d ' \n */ e/**/f --"), (Texts{"a", "c", "e", "f"}));
  EXPECT_EQ(texts("/* /* does not nest */ a"), (Texts{"a"}));
  EXPECT_EQ(texts("'--' \"/*\" a"), (Texts{"'--'", "\"/*\"", "a"}));
  EXPECT_EQ(texts("-- nothing\n"), Texts{});
}

TEST(Lexer, PlacesAreBytesFromTheBeginning) {
  const auto found = tokens("é 'ü' x");
  EXPECT_EQ(found[0].location.offset, 0);
  EXPECT_EQ(found[1].location.offset, 3);
  EXPECT_EQ(found[2].location.offset, 8);
  EXPECT_EQ(found[2].end().offset, 9);
}

TEST(Lexer, TheTextEndsWhereItsLastTokenDoes) {
  Lexer lexer("a  -- b\n\n");
  (void)lexer.next();
  EXPECT_EQ(lexer.next().location.offset, 1);
  EXPECT_EQ(lexer.next().kind, Kind::end);  // and again
}

TEST(Lexer, AByteOrderMarkIsSkipped) {
  EXPECT_EQ(texts("\xef\xbb\xbfSELECT"), Texts{"SELECT"});
  EXPECT_EQ(texts("\xef\xbb\xbf"), Texts{});
}

struct Refused {
  std::string text;
  int offset;
  std::string message;
};

TEST(Lexer, ErrorsSayWhatAndWhere) {
  const std::vector<Refused> all = {
      {"a 'b", 2, "unterminated string; add the missing '"},
      {"'a''", 0, "unterminated string"},
      {"'", 0, "unterminated string"},
      {"a \"b", 2, "unterminated quoted name; add the missing \""},
      {"\"\"", 0, "a quoted name cannot be empty"},
      {"a /* b *", 2, "unterminated comment; add the missing */"},
      {"/*/", 0, "unterminated comment"},
      {"9223372036854775809", 0,
       "integer out of range: 9223372036854775809; the maximum is 9223372036854775807"},
      {"1e999", 0, "number out of range for DOUBLE: 1e999"},
      {"a 1e-999", 2, "number out of range for DOUBLE: 1e-999"},
      {"12abc", 0, "invalid number or name '12abc'"},
      {"2GB", 0, "write a size with a unit as a string"},
      {"1.2.3", 0, "invalid number or name '1.2.3'"},
      {"1e", 0, "invalid number or name '1e'"},
      {"0x10", 0, "invalid number or name '0x10'"},
      {"a ! b", 2, "use <> or != for not equal"},
      {"`a`", 0, "quote names with \""},
      {"a $1", 2, "syntax error at or near \"$\""},
      {"a & b", 2, "use AND"},
      {"2 ^ 3", 2, "use power(x, y)"},
      {"# a", 0, "start a comment with --"},
      {"a \x01", 2, "syntax error at or near \"\\x01\""},
      {std::string("a \0", 3), 2, "syntax error at or near \"\\x00\""},
      {std::string("'a\0'", 4), 2, "invalid zero byte '\\x00'"},
      {"a\xff", 1, "invalid byte '\\xff' for encoding UTF-8"},
      {"'\xc3'", 1, "invalid byte '\\xc3' for encoding UTF-8"},
      {"\"\xed\xa0\x80\"", 1, "invalid byte '\\xed' for encoding UTF-8"},
      {"\xf5\x80\x80\x80", 0, "invalid byte '\\xf5' for encoding UTF-8"},
      {"a\u00a0b", 1, "a no-break space; use a plain space instead"},
      {"\u201ca\u201d", 0, "a typographic quote; use \" instead"},
      {"0\u202650", 1, "an ellipsis; use three dots, ... instead"},
      {"[a\u2026b]", 2, "an ellipsis; use three dots, ... instead"},
      {"a \u2212 b", 2, "a minus sign; use a hyphen, - instead"},
  };
  for (const Refused& example : all) try {
      (void)tokens(example.text);
      ADD_FAILURE() << example.text << " was read";
    } catch (const ErrorAt& error) {
      EXPECT_STREQ(error.kind(), "ParseError");
      EXPECT_EQ(error.location.offset, example.offset) << example.text;
      EXPECT_NE(std::string(error.what()).find(example.message), std::string::npos)
          << example.text << ": " << error.what();
    }
}

TEST(Characters, AreAsLongAsUtf8Says) {
  EXPECT_EQ(character_length("a", 0), 1U);
  EXPECT_EQ(character_length("é", 0), 2U);
  EXPECT_EQ(character_length("…", 0), 3U);
  EXPECT_EQ(character_length("😀", 0), 4U);
  for (const char* bad :
       {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80",
        "\xf4\x90\x80\x80", "\xe2\x80", "\xf0\x9f\x98", "\xff"})
    EXPECT_EQ(character_length(bad, 0), 0U) << readable(bad);
}

TEST(Characters, LongAndOddTextsCanBeShown) {
  EXPECT_EQ(readable("größe"), "größe");
  EXPECT_EQ(readable("a\nb\x7f\xff"), "a\\x0ab\\x7f\\xff");
  EXPECT_EQ(readable(std::string(100, 'x')), std::string(40, 'x') + "...");
}

}  // namespace
}  // namespace tessera::lang
