#include "lang/sql/cursor.h"

#include <algorithm>
#include <utility>

#include "base/memory_account.h"
#include "lang/characters.h"
#include "lang/sql/words.h"

namespace tessera::sql {
namespace {

using lang::fail_parse;

std::string syntax_error_at(const Token& token) {
  const std::string text = lang::readable(token.text);
  switch (token.kind) {
    case Token::Kind::end: return "syntax error at end of input";
    case Token::Kind::string:
    case Token::Kind::quoted_name: return fmt::format("syntax error at or near {}", text);
    case Token::Kind::integer:
    case Token::Kind::decimal:
    case Token::Kind::word:
    case Token::Kind::symbol: break;
  }
  return fmt::format("syntax error at or near \"{}\"", text);
}

}  // namespace

bool Cursor::at_word(std::string_view word) const {
  return token_.kind == Token::Kind::word && same_word(token_.text, word);
}

bool Cursor::at_name() const {
  return token_.kind == Token::Kind::quoted_name ||
         (token_.kind == Token::Kind::word && !is_reserved(token_.text));
}

void Cursor::advance() {
  look_at_memory("the text of a statement");
  end_of_last_ = token_.end();
  token_ = lexer_.next();
}

void Cursor::advance_by_character() {
  end_of_last_ = {token_.location.offset + 1};
  lexer_.go_to(end_of_last_);
  token_ = lexer_.next();
}

bool Cursor::take_symbol(std::string_view symbol) {
  const bool found = at_symbol(symbol);
  if (found) advance();
  return found;
}

bool Cursor::take_word(std::string_view word) {
  const bool found = at_word(word);
  if (found) advance();
  return found;
}

bool Cursor::at_where_call() const { return at_word("WHERE") && next().text == "("; }

bool Cursor::take_comma() {
  const Location comma = location();
  if (!take_symbol(",")) return false;
  const bool ended = at_end() || at_symbol(")") || at_symbol("]") || at_symbol(";") ||
                     (token_.kind == Token::Kind::word && begins_clause(token_.text) &&
                      is_reserved(token_.text) && !at_word("UNION") && !at_where_call());
  if (ended) fail_parse(comma, "{}: nothing follows the comma; remove it", syntax_error_at(token_));
  return true;
}

void Cursor::expect_symbol(std::string_view symbol, std::string_view what) {
  if (!take_symbol(symbol)) fail_expected(what);
}

void Cursor::expect_word(std::string_view word, std::string_view what) {
  if (!take_word(word)) fail_expected(what);
}

std::string Cursor::expect_name(std::string_view what) {
  if (!at_name()) {
    if (token_.kind == Token::Kind::word)
      fail_parse(location(),
                 "{}: expected {}; quote the reserved word to use it as a name, as in \"{}\"",
                 syntax_error_at(token_), what, token_.text);
    if (token_.kind == Token::Kind::string)
      fail_parse(location(), "{}: expected {}; quote names with \"", syntax_error_at(token_), what);
    fail_expected(what);
  }
  std::string name =
      token_.kind == Token::Kind::quoted_name ? unquoted(token_) : std::string(token_.text);
  advance();
  return name;
}

std::string Cursor::expect_string(std::string_view what) {
  if (token_.kind == Token::Kind::quoted_name)
    fail_parse(location(), "{}: expected {}; quote strings with '", syntax_error_at(token_), what);
  if (at_symbol("?")) {
    const Location here = location();
    const auto* text = std::get_if<std::string>(&take_value().value);
    if (text == nullptr) fail_parse(here, "expected {}, but the value for ? is not a text", what);
    return *text;
  }
  if (token_.kind != Token::Kind::string) fail_expected(what);
  std::string content = unquoted(token_);
  advance();
  return content;
}

std::int64_t Cursor::expect_integer(std::string_view what) {
  if (token_.kind != Token::Kind::integer) fail_expected(what);
  if (token_.wants_minus) lang::fail_too_large(token_);
  const std::int64_t value = token_.integer;
  advance();
  return value;
}

const Literal& Cursor::take_value() {
  if (values_.empty()) fail_parse(location(), "no values given for the parameters (?)");
  if (std::cmp_equal(values_taken_, values_.size()))
    fail_parse(location(), "too few values for the parameters (?): found only {}", values_.size());
  advance();
  return values_[static_cast<std::size_t>(values_taken_++)];
}

void Cursor::fail_expected(std::string_view what) const {
  const bool plain = token_.kind == Token::Kind::word || token_.kind == Token::Kind::symbol;
  const std::string_view remedy = plain ? remedy_for(token_.text) : std::string_view();
  fail_parse(location(), "{}: expected {}{}{}", syntax_error_at(token_), what,
             remedy.empty() ? "" : "; ", remedy);
}

Cursor::Nested::Nested(Cursor& cursor) : cursor_(cursor) {
  if (cursor.nesting_ == most_nesting)
    fail_parse(cursor.location(), "nested more than {} levels deep; split it with views or WITH",
               most_nesting);
  ++cursor.nesting_;
}

Cursor::Chain::~Chain() { cursor_.links_ = std::max(cursor_.links_, outside_); }

void Cursor::add_link(Location location, std::string_view links, std::string_view remedy) {
  if (++links_ > most_links)
    fail_parse(location, "more than {} {} in a row; {}", most_links, links, remedy);
}

}  // namespace tessera::sql
