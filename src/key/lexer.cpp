#include "key/lexer.h"

#include <fmt/format.h>

#include <algorithm>

#include "tessera/error.h"

namespace tessera {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

}  // namespace

bool KeyLexer::take(std::string_view text) {
  const bool found = at(text);
  if (found) advance();
  return found;
}

void KeyLexer::expect(std::string_view text) {
  if (!take(text)) fail(fmt::format("expected '{}'", text));
}

void KeyLexer::expect_end() const {
  if (token_.kind != KeyToken::end) fail("expected an operator or the end");
}

void KeyLexer::advance() {
  while (position_ < text_.size() && is_space(text_[position_])) ++position_;
  const std::size_t start = position_;
  KeyToken::Kind kind = KeyToken::end;
  if (start < text_.size()) {
    const char first = text_[start];
    kind = is_digit(first)    ? KeyToken::integer
           : is_letter(first) ? KeyToken::name
                              : KeyToken::symbol;
    position_ = start + (kind == KeyToken::symbol ? symbol_length() : word_length());
  }
  token_ = {kind, text_.substr(start, position_ - start), start};
}

void KeyLexer::fail(const std::string& message) const {
  fail(message + (token_.kind == KeyToken::end ? ", but the text ends here"
                                               : fmt::format(", not '{}'", token_.text)),
       token_);
}

void KeyLexer::fail(const std::string& message, const KeyToken& where) const {
  const std::string_view before = text_.substr(0, where.offset);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t line_start = before.rfind('\n') + 1;  // without a line break, npos + 1 = 0
  const std::size_t column = where.offset - line_start + 1;
  throw ParseError(fmt::format("{} at line {}, column {} of '{}'", message, line, column, text_),
                   static_cast<int>(line), static_cast<int>(column));
}

std::size_t KeyLexer::word_length() const {
  std::size_t end = position_;
  while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
  return end - position_;
}

std::size_t KeyLexer::symbol_length() const {
  for (const char* pair : {"==", "!=", "<>", "<=", ">=", "->", "&&", "||"})
    if (text_.substr(position_, 2) == pair) return 2;
  return 1;
}

}  // namespace tessera
