#pragma once

#include <optional>

#include "lang/lexer.h"
#include "lang/sql/ast.h"

namespace tessera::sql {

/// How tightly a form binds, loosest first. The parser reads by this table; the printer puts a part
/// in parentheses where it binds more loosely than its place asks for.
enum class Binding {
  disjunction,
  conjunction,
  negation,
  comparison,  // these do not chain; IN, BETWEEN and IS NULL are among them
  sum,
  product,
  sign,
  postfix,
};

constexpr Binding tighter(Binding binding) {
  return static_cast<Binding>(static_cast<int>(binding) + 1);
}

Binding binding_of(BinaryOperator op);

/// The kernel that an operator calls; empty if there is none.
std::string_view kernel_of(BinaryOperator op);

/// The operator that a token stands for, if any: `==` is `=`, and `!=` is `<>`.
std::optional<BinaryOperator> operator_of(const lang::Token& token);

}  // namespace tessera::sql
