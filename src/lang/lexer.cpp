#include "lang/lexer.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>

#include "base/characters.h"
#include "lang/characters.h"

namespace tessera::lang {
namespace {

/// Longer ones first.
constexpr std::string_view symbols[] = {"...", "..", "->", "<-", "<=", ">=", "<>", "!=", "==",
                                        "||",  "::", "//", "(",  ")",  "[",  "]",  "{",  "}",
                                        ",",   ";",  ":",  ".",  "+",  "-",  "*",  "/",  "%",
                                        "@",   "|",  "<",  ">",  "=",  "?"};

constexpr Script our_script{.symbols = symbols,
                            .quotes = "'\"",
                            .doubles_quotes = true,
                            .has_comments = true,
                            .has_foreign_letters = true};

Location at_offset(std::size_t offset) { return {static_cast<int>(offset)}; }

/// Characters that word processors and web pages put in the place of others.
struct LookAlike {
  std::string_view character, what, instead;
};
constexpr LookAlike look_alikes[] = {
    {"\u00a0", "a no-break space", "a plain space"},
    {"\u2018", "a typographic quote", "'"},
    {"\u2019", "a typographic quote", "'"},
    {"\u201c", "a typographic quote", "\""},
    {"\u201d", "a typographic quote", "\""},
    {"\u2026", "an ellipsis", "three dots, ..."},
    {"\u2212", "a minus sign", "a hyphen, -"},
    {"\u2013", "a dash", "a hyphen, -"},
    {"\u2264", "a comparison", "<="},
    {"\u2265", "a comparison", ">="},
    {"\u2260", "a comparison", "<>"},
    {"\u00d7", "a multiplication sign", "*"},
};

/// A character that may stand in names, strings and quoted names.
std::size_t checked_length(std::string_view text, std::size_t at) {
  const std::size_t length = character_length(text, at);
  const Location location = at_offset(at);
  if (length == 0)
    fail_parse(location, "invalid byte '{}' for encoding UTF-8; save the text as UTF-8",
               readable(text.substr(at, 1)));
  if (text[at] == '\0') fail_parse(location, "invalid zero byte '\\x00' in the text");
  return length;
}

void refuse_look_alike(std::string_view text, std::size_t at) {
  for (const LookAlike& odd : look_alikes)
    if (text.substr(at).starts_with(odd.character))
      fail_parse(at_offset(at), "invalid character '{}', {}; use {} instead", odd.character,
                 odd.what, odd.instead);
}

}  // namespace

const Script& script() { return our_script; }

std::string unquoted(const Token& token) {
  const char quote = token.text.front();
  std::string content;
  for (std::size_t i = 1; i + 1 < token.text.size(); ++i) {
    content += token.text[i];
    if (token.text[i] == quote) ++i;  // the second of a pair
  }
  return content;
}

Lexer::Lexer(std::string_view text) : text_(text), scanner_(text, our_script) {
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<int>::max());
  if (text.size() > most)
    fail_parse(Location{}, "the text has {} bytes, but the maximum is {}; split it", text.size(),
               most);
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (!text.starts_with(byte_order_mark)) return;
  last_end_ = byte_order_mark.size();
  scanner_.go_to(last_end_);
}

Token Lexer::next() {
  Lexeme found = scanner_.next();
  for (; found.kind == Lexeme::Kind::comment; found = scanner_.next())
    if (!found.ended)
      fail_parse(at_offset(found.offset), "unterminated comment; add the missing */");
  switch (found.kind) {
    case Lexeme::Kind::word: return word(found);
    case Lexeme::Kind::number: return number(found.offset);
    case Lexeme::Kind::quoted: return quoted(found);
    case Lexeme::Kind::end: {
      Token end;
      end.text = text_.substr(last_end_, 0);
      end.location = at_offset(last_end_);
      return end;
    }
    default: return symbol(found);
  }
}

Token Lexer::token(Token::Kind kind, std::size_t begin, std::size_t length) {
  Token found;
  found.kind = kind;
  found.text = text_.substr(begin, length);
  found.location = at_offset(begin);
  last_end_ = begin + length;
  scanner_.go_to(last_end_);
  return found;
}

Token Lexer::quoted(const Lexeme& found) {
  const Location here = at_offset(found.offset);
  const bool is_string = found.text.front() == '\'';
  if (!found.ended && is_string)
    fail_parse(
        here,
        "unterminated string; add the missing ' (write '' for a quote inside a string, as in "
        "'it''s')");
  if (!found.ended)
    fail_parse(here, "unterminated quoted name; add the missing \" (strings are written with ')");
  if (!is_string && found.text.size() == 2)
    fail_parse(here, "a quoted name cannot be empty (strings are written with ')");
  const std::size_t end = found.offset + found.text.size();
  for (std::size_t i = found.offset; i < end;) i += checked_length(text_, i);
  return token(is_string ? Token::Kind::string : Token::Kind::quoted_name, found.offset,
               found.text.size());
}

void fail_too_large(const Token& token) {
  fail_parse(token.location,
             "integer out of range: {}; the maximum is {} (add a decimal point to write a DOUBLE)",
             readable(token.text), std::numeric_limits<std::int64_t>::max());
}

// A dot belongs to a number unless another one follows it: 0...50 is a range of two integers.
Token Lexer::number(std::size_t begin) {
  const auto at = [&](std::size_t i) { return i < text_.size() ? text_[i] : '\0'; };
  const auto after_digits = [&](std::size_t i) {
    while (is_digit(at(i))) ++i;
    return i;
  };
  std::size_t end = after_digits(begin);
  bool whole = true;
  if (at(end) == '.' && at(end + 1) != '.') {
    end = after_digits(end + 1);
    whole = false;
  }
  if (at(end) == 'e' || at(end) == 'E') {
    const std::size_t digits = end + (at(end + 1) == '+' || at(end + 1) == '-' ? 2 : 1);
    if (is_digit(at(digits))) {
      end = after_digits(digits);
      whole = false;
    }
  }
  const bool another_point = !whole && at(end) == '.' && at(end + 1) != '.';
  if (our_script.continues_word(at(end)) || another_point) {
    refuse_look_alike(text_, end);
    while (our_script.continues_word(at(end)) || (at(end) == '.' && at(end + 1) != '.')) ++end;
    fail_parse(at_offset(begin),
               "invalid number or name '{}'; quote a name that begins with a digit, as in \"2nd\", "
               "and write a size with a unit as a string",
               readable(text_.substr(begin, end - begin)));
  }
  Token found = token(whole ? Token::Kind::integer : Token::Kind::decimal, begin, end - begin);
  const char* first = found.text.data();
  const char* last = first + found.text.size();
  if (whole && std::from_chars(first, last, found.integer).ec != std::errc()) {
    std::uint64_t digits = 0;
    found.wants_minus =
        std::from_chars(first, last, digits).ec == std::errc() && digits == std::uint64_t{1} << 63U;
    if (!found.wants_minus) fail_too_large(found);
    found.integer = std::numeric_limits<std::int64_t>::min();
  }
  if (!whole && (std::from_chars(first, last, found.decimal).ec != std::errc() ||
                 !std::isfinite(found.decimal)))
    fail_parse(found.location,
               "number out of range for DOUBLE: {}; the range is 4.9e-324 to 1.7e308",
               readable(found.text));
  return found;
}

Token Lexer::word(const Lexeme& found) {
  const std::size_t end = found.offset + found.text.size();
  for (std::size_t at = found.offset; at < end;) {
    const std::size_t length = checked_length(text_, at);
    if (length > 1) refuse_look_alike(text_, at);
    at += length;
  }
  return token(Token::Kind::word, found.offset, found.text.size());
}

Token Lexer::symbol(const Lexeme& found) {
  const std::string_view rest = text_.substr(found.offset);
  if (rest.size() > 1 && rest[0] == '.' && is_digit(rest[1])) return number(found.offset);
  if (std::find(std::begin(symbols), std::end(symbols), found.text) != std::end(symbols))
    return token(Token::Kind::symbol, found.offset, found.text.size());
  const char* remedy = rest[0] == '`'   ? "; quote names with \""
                       : rest[0] == '!' ? "; use <> or != for not equal, and NOT for negation"
                       : rest[0] == '&' ? "; use AND"
                       : rest[0] == '^' ? "; use power(x, y)"
                       : rest[0] == '#' ? "; start a comment with --"
                                        : "";
  fail_parse(at_offset(found.offset), "syntax error at or near \"{}\"{}",
             readable(rest.substr(0, 1)), remedy);
}

}  // namespace tessera::lang
