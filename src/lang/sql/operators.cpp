#include "lang/sql/operators.h"

#include "base/check.h"
#include "lang/sql/words.h"

namespace tessera::sql {
namespace {

struct Spelling {
  BinaryOperator op;
  std::string_view text;
  Binding binding;
  std::string_view kernel;  // none: it has a meaning for the values of rows alone
};

/// The first spelling of an operator is the one that is printed.
constexpr Spelling spellings[] = {
    {BinaryOperator::add, "+", Binding::sum, "add"},
    {BinaryOperator::subtract, "-", Binding::sum, "sub"},
    {BinaryOperator::multiply, "*", Binding::product, "mul"},
    {BinaryOperator::divide, "/", Binding::product, "div"},
    {BinaryOperator::integer_divide, "//", Binding::product, ""},
    {BinaryOperator::remainder, "%", Binding::product, ""},
    {BinaryOperator::matmul, "@", Binding::product, "matmul"},
    {BinaryOperator::equal, "=", Binding::comparison, "equal"},
    {BinaryOperator::equal, "==", Binding::comparison, "equal"},
    {BinaryOperator::not_equal, "<>", Binding::comparison, "not_equal"},
    {BinaryOperator::not_equal, "!=", Binding::comparison, "not_equal"},
    {BinaryOperator::less, "<", Binding::comparison, "less"},
    {BinaryOperator::less_equal, "<=", Binding::comparison, "less_equal"},
    {BinaryOperator::greater, ">", Binding::comparison, "greater"},
    {BinaryOperator::greater_equal, ">=", Binding::comparison, "greater_equal"},
    {BinaryOperator::logical_and, "AND", Binding::conjunction, "logical_and"},
    {BinaryOperator::logical_or, "OR", Binding::disjunction, "logical_or"},
};

const Spelling& spelling_of(BinaryOperator op) {
  for (const Spelling& spelling : spellings)
    if (spelling.op == op) return spelling;
  TESSERA_INVARIANT(false, "the operator {} has no spelling", static_cast<int>(op));
  return spellings[0];
}

}  // namespace

std::string_view to_string(BinaryOperator op) { return spelling_of(op).text; }

Binding binding_of(BinaryOperator op) { return spelling_of(op).binding; }

std::string_view kernel_of(BinaryOperator op) { return spelling_of(op).kernel; }

std::optional<BinaryOperator> operator_of(const lang::Token& token) {
  using Kind = lang::Token::Kind;
  if (token.kind != Kind::symbol && token.kind != Kind::word) return {};
  const bool is_symbol = token.kind == Kind::symbol;
  for (const Spelling& spelling : spellings)
    if (is_symbol ? spelling.text == token.text : same_word(spelling.text, token.text))
      return spelling.op;
  return {};
}

}  // namespace tessera::sql
