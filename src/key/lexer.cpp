#include "key/lexer.h"

#include <fmt/format.h>

#include <algorithm>

#include "tessera/error.h"

namespace tessera {
namespace {

constexpr std::string_view pairs[] = {"==", "!=", "<>", "<=", ">=", "->", "&&", "||"};
constexpr Script key_script{.symbols = pairs};

}  // namespace

KeyLexer::KeyLexer(std::string_view text) : text_(text), scanner_(text, key_script) { advance(); }

bool KeyLexer::take(std::string_view text) {
  const bool found = at(text);
  if (found) advance();
  return found;
}

void KeyLexer::expect(std::string_view text) {
  if (!take(text)) fail(fmt::format("expected '{}'", text));
}

void KeyLexer::expect_end() const {
  if (token_.kind != Lexeme::Kind::end) fail("expected an operator or the end");
}

void KeyLexer::fail(const std::string& message) const {
  fail(message + (token_.kind == Lexeme::Kind::end ? ", but the text ends here"
                                                   : fmt::format(", not '{}'", token_.text)),
       token_);
}

void KeyLexer::fail(const std::string& message, const Lexeme& where) const {
  const std::string_view before = text_.substr(0, where.offset);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t line_start = before.rfind('\n') + 1;  // without a line break, npos + 1 = 0
  const std::size_t column = where.offset - line_start + 1;
  throw ParseError(fmt::format("{} at line {}, column {} of '{}'", message, line, column, text_),
                   static_cast<int>(line), static_cast<int>(column));
}

}  // namespace tessera
