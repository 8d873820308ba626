#include "lang/sql/parser.h"

#include <algorithm>

#include "lang/sql/grammar.h"
#include "lang/sql/words.h"

namespace tessera::sql {
namespace {

void expect_end_of_statement(const Cursor& cursor) {
  if (cursor.at_end() || cursor.at_symbol(";")) return;
  const Token& token = cursor.token();
  const auto words = statement_words();
  if (token.kind == Token::Kind::word &&
      std::any_of(words.begin(), words.end(),
                  [&](std::string_view word) { return same_word(word, token.text); }))
    lang::fail_parse(token.location,
                     "syntax error at or near \"{}\": expected the end of the statement; add ';' "
                     "between statements",
                     token.text);
  if (token.kind != Token::Kind::symbol && remedy_for(token.text).empty())
    cursor.fail_expected("';', a comma or an operator");
  cursor.fail_expected("';' or the end of the statement");
}

/// What `read` makes of the whole text.
template <class Read>
auto parse_whole(std::string_view text, const Read& read) {
  Cursor cursor(text);
  auto found = read(cursor);
  if (!cursor.at_end()) cursor.fail_expected("the end of the text");
  return found;
}

}  // namespace

std::vector<StatementPtr> parse(std::string_view text, const std::vector<Literal>& values) {
  Cursor cursor(text, values);
  std::vector<StatementPtr> statements;
  while (true) {
    while (cursor.take_symbol(";")) continue;
    if (cursor.at_end()) break;
    statements.push_back(grammar::statement(cursor));
    expect_end_of_statement(cursor);
  }
  if (cursor.values_taken() < static_cast<int>(values.size()))
    lang::fail_parse(cursor.location(),
                     "too many values for the parameters (?): expected {1}, found {0}",
                     values.size(), cursor.values_taken());
  return statements;
}

ExpressionPtr parse_expression(std::string_view text) {
  return parse_whole(text, grammar::expression);
}

QueryPtr parse_query(std::string_view text) { return parse_whole(text, grammar::query); }

}  // namespace tessera::sql
