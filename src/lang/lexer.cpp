#include "lang/lexer.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "base/characters.h"
#include "lang/characters.h"

namespace tessera::lang {
namespace {

constexpr auto nowhere = std::string_view::npos;

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool begins_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool continues_name(char c) { return begins_name(c) || is_digit(c); }

/// Longer ones first.
constexpr std::string_view symbols[] = {
    "...", "->", "<-", "<=", ">=", "<>", "!=", "==", "||", "::", "//", "(", ")", "[", "]", "{",
    "}",   ",",  ";",  ":",  ".",  "+",  "-",  "*",  "/",  "%",  "@",  "|", "<", ">", "=", "?"};

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
  const Location location = {static_cast<int>(at)};
  if (length == 0)
    fail_parse(location, "invalid byte '{}' for encoding UTF-8; save the text as UTF-8",
               readable(text.substr(at, 1)));
  if (text[at] == '\0') fail_parse(location, "invalid zero byte '\\x00' in the text");
  return length;
}

void refuse_look_alike(std::string_view text, std::size_t at) {
  for (const LookAlike& odd : look_alikes)
    if (text.substr(at).starts_with(odd.character))
      fail_parse(Location{static_cast<int>(at)}, "invalid character '{}', {}; use {} instead",
                 odd.character, odd.what, odd.instead);
}

}  // namespace

std::string unquoted(const Token& token) {
  const char quote = token.text.front();
  std::string content;
  for (std::size_t i = 1; i + 1 < token.text.size(); ++i) {
    content += token.text[i];
    if (token.text[i] == quote) ++i;  // the second of a pair
  }
  return content;
}

std::size_t end_of_quoted(std::string_view text, std::size_t begin) {
  const char quote = text[begin];
  for (std::size_t i = text.find(quote, begin + 1); i != nowhere; i = text.find(quote, i + 2))
    if (i + 1 == text.size() || text[i + 1] != quote) return i + 1;
  return nowhere;
}

std::size_t end_of_comment(std::string_view text, std::size_t begin) {
  const std::string_view opening = text.substr(begin, 2);
  if (opening == "--") return std::min(text.find('\n', begin), text.size());
  if (opening != "/*") return begin;
  const std::size_t closing = text.find("*/", begin + 2);
  return closing == nowhere ? nowhere : closing + 2;
}

Lexer::Lexer(std::string_view text) : text_(text) {
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<int>::max());
  if (text.size() > most)
    fail_parse(Location{}, "the text has {} bytes, but the maximum is {}; split it", text.size(),
               most);
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (text.starts_with(byte_order_mark)) last_end_ = position_ = byte_order_mark.size();
}

Token Lexer::next() {
  skip_blanks();
  if (position_ == text_.size()) {
    position_ = last_end_;
    const Token end = token(Token::Kind::end, 0);
    position_ = text_.size();
    return end;
  }
  const char first = text_[position_];
  const char second = position_ + 1 < text_.size() ? text_[position_ + 1] : '\0';
  if (first == '\'') return quoted(Token::Kind::string);
  if (first == '"') return quoted(Token::Kind::quoted_name);
  if (is_digit(first) || (first == '.' && is_digit(second))) return number();
  return begins_name(first) ? word() : symbol();
}

void Lexer::skip_blanks() {
  while (position_ < text_.size()) {
    if (is_space(text_[position_])) {
      ++position_;
      continue;
    }
    const std::size_t end = end_of_comment(text_, position_);
    if (end == nowhere) fail_parse(here(), "unterminated comment; add the missing */");
    if (end == position_) return;
    position_ = end;
  }
}

Token Lexer::token(Token::Kind kind, std::size_t length) {
  Token found;
  found.kind = kind;
  found.text = text_.substr(position_, length);
  found.location = here();
  last_end_ = position_ += length;
  return found;
}

Token Lexer::quoted(Token::Kind kind) {
  const bool is_string = kind == Token::Kind::string;
  const std::size_t end = end_of_quoted(text_, position_);
  if (end == nowhere && is_string)
    fail_parse(
        here(),
        "unterminated string; add the missing ' (write '' for a quote inside a string, as in "
        "'it''s')");
  if (end == nowhere)
    fail_parse(here(), "unterminated quoted name; add the missing \" (strings are written with ')");
  if (!is_string && end - position_ == 2)
    fail_parse(here(), "a quoted name cannot be empty (strings are written with ')");
  for (std::size_t i = position_; i < end;) i += checked_length(text_, i);
  return token(kind, end - position_);
}

void fail_too_large(const Token& token) {
  fail_parse(token.location,
             "integer out of range: {}; the maximum is {} (add a decimal point to write a DOUBLE)",
             readable(token.text), std::numeric_limits<std::int64_t>::max());
}

// A dot belongs to a number unless another one follows it: 0...50 is a range of two integers.
Token Lexer::number() {
  const auto at = [&](std::size_t i) { return i < text_.size() ? text_[i] : '\0'; };
  const auto after_digits = [&](std::size_t i) {
    while (is_digit(at(i))) ++i;
    return i;
  };
  std::size_t end = after_digits(position_);
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
  if (continues_name(at(end)) || another_point) {
    refuse_look_alike(text_, end);
    while (continues_name(at(end)) || (at(end) == '.' && at(end + 1) != '.')) ++end;
    fail_parse(
        here(),
        "invalid number or name '{}'; quote a name that begins with a digit, as in \"2nd\", and "
        "write a size with a unit as a string",
        readable(text_.substr(position_, end - position_)));
  }
  Token found = token(whole ? Token::Kind::integer : Token::Kind::decimal, end - position_);
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

Token Lexer::word() {
  std::size_t end = position_;
  while (end < text_.size() && continues_name(text_[end])) {
    const std::size_t length = checked_length(text_, end);
    if (length > 1) refuse_look_alike(text_, end);
    end += length;
  }
  return token(Token::Kind::word, end - position_);
}

Token Lexer::symbol() {
  const std::string_view rest = text_.substr(position_);
  for (const std::string_view symbol : symbols)
    if (rest.starts_with(symbol)) {
      if (symbol == "." && rest.starts_with(".."))
        fail_parse(here(),
                   "syntax error at or near \"..\"; write a range with three dots, as in 0...50");
      return token(Token::Kind::symbol, symbol.size());
    }
  const char* remedy = rest[0] == '`'   ? "; quote names with \""
                       : rest[0] == '!' ? "; use <> or != for not equal, and NOT for negation"
                       : rest[0] == '&' ? "; use AND"
                       : rest[0] == '^' ? "; use power(x, y)"
                       : rest[0] == '#' ? "; start a comment with --"
                                        : "";
  fail_parse(here(), "syntax error at or near \"{}\"{}", readable(rest.substr(0, 1)), remedy);
}

}  // namespace tessera::lang
