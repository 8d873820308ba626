#include <fmt/format.h>

#include <cmath>

#include "lang/sql/printing.h"
#include "lang/sql/words.h"

namespace tessera::sql {
namespace {

/// How tightly a literal binds: of negative ones the parser makes only the least integer, but
/// others may make more.
struct BindingOf {
  Binding operator()(const Literal& literal) const {
    const auto* integer = std::get_if<std::int64_t>(&literal.value);
    const auto* number = std::get_if<double>(&literal.value);
    const bool negative = (integer != nullptr && *integer < 0) ||
                          (number != nullptr && std::isfinite(*number) && std::signbit(*number));
    return negative ? Binding::sign : Binding::postfix;
  }
  Binding operator()(const Unary& unary) const {
    return unary.op == UnaryOperator::minus ? Binding::sign : Binding::negation;
  }
  Binding operator()(const Binary& binary) const { return binding_of(binary.op); }
  Binding operator()(const InList&) const { return Binding::comparison; }
  Binding operator()(const Between&) const { return Binding::comparison; }
  Binding operator()(const IsNull&) const { return Binding::comparison; }
  Binding operator()(const Aggregation&) const { return Binding::sign; }  // +/v::INT casts v
  template <class Other>
  Binding operator()(const Other&) const {
    return Binding::postfix;
  }
};

/// Shortest text that is read as the same number, and not as an integer.
std::string decimal_text(double value) {
  if (!std::isfinite(value)) return fmt::format("'{}'::DOUBLE", value);
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

/// After these, `.T` would be read as part of a number or as a column's name.
bool needs_parentheses_before_dot(const Expression& expression) {
  if (const auto* literal = std::get_if<Literal>(&expression.node))
    return std::holds_alternative<std::int64_t>(literal->value) ||
           std::holds_alternative<double>(literal->value);
  const auto* name = std::get_if<Name>(&expression.node);
  return name != nullptr && name->table.empty();
}

}  // namespace

std::string to_string(const Expression& expression) {
  Printer printer;
  printer.print(expression);
  return printer.take();
}

void Printer::print(const Expression& expression, Binding place) {
  const bool parentheses = std::visit(BindingOf{}, expression.node) < place;
  if (parentheses) add("(");
  std::visit([&](const auto& node) { form(node); }, expression.node);
  if (parentheses) add(")");
}

void Printer::form(const Literal& literal) {
  if (std::holds_alternative<Null>(literal.value)) add("NULL");
  if (const auto* value = std::get_if<bool>(&literal.value)) add(*value ? "TRUE" : "FALSE");
  if (const auto* value = std::get_if<std::int64_t>(&literal.value)) add(fmt::format("{}", *value));
  if (const auto* value = std::get_if<double>(&literal.value)) add(decimal_text(*value));
  if (const auto* value = std::get_if<std::string>(&literal.value)) add_string(*value);
  // A tensor that was given has no text.
  if (std::holds_alternative<Tile>(literal.value)) add("?");
}

void Printer::form(const Name& name) {
  if (!name.table.empty()) {
    add_name(name.table);
    add(".");
  }
  add_name(name.column);
}

void Printer::form(const Star& star) {
  if (!star.table.empty()) {
    add_name(star.table);
    add(".");
  }
  add("*");
}

void Printer::form(const Unary& unary) {
  if (unary.op == UnaryOperator::logical_not) {
    add("NOT ");
    return print(*unary.operand, Binding::negation);
  }
  add("-");
  const std::size_t begin = text_.size();
  print(*unary.operand, Binding::sign);
  if (text_[begin] == '-') text_.insert(begin, " ");  // two of them begin a comment
}

void Printer::form(const Binary& binary) {
  const Binding own = binding_of(binary.op);
  print(*binary.left, own == Binding::comparison ? tighter(own) : own);
  add(" ");
  add(binary.op == BinaryOperator::equal && in_call_ ? "==" : to_string(binary.op));
  add(" ");
  print(*binary.right, tighter(own));
}

void Printer::form(const Call& call) {
  const bool was_in_call = in_call_;
  in_call_ = in_call_ || !is_plain_aggregate(call.name) || call.arguments.size() > 1;
  if (call.name == "where")
    add(call.name);  // needs no quotes before its parentheses
  else
    add_name(call.name);
  add(call.distinct ? "(DISTINCT " : "(");
  if (call.star) add("*");
  add_list(call.arguments, [&](const ExpressionPtr& argument) { print(*argument); });
  if (!call.arguments.empty() && !call.parameters.empty()) add(", ");
  add_list(call.parameters, [&](const auto& parameter) {
    add_name(parameter.first);
    add(" = ");
    print(*parameter.second);
  });
  add(")");
  in_call_ = was_in_call;
}

void Printer::form(const Case& cases) {
  add("CASE");
  if (cases.operand) {
    add(" ");
    print(*cases.operand);
  }
  for (const auto& [condition, value] : cases.branches) {
    add(" WHEN ");
    print(*condition);
    add(" THEN ");
    print(*value);
  }
  if (cases.otherwise) {
    add(" ELSE ");
    print(*cases.otherwise);
  }
  add(" END");
}

void Printer::form(const Cast& cast) {
  print(*cast.operand, Binding::postfix);
  add("::");
  add(to_string(cast.type));
}

void Printer::form(const InList& in) {
  print(*in.operand, Binding::sum);
  add(in.negated ? " NOT IN (" : " IN (");
  add_list(in.options, [&](const ExpressionPtr& option) { print(*option); });
  add(")");
}

void Printer::form(const Between& between) {
  print(*between.operand, Binding::sum);
  add(between.negated ? " NOT BETWEEN " : " BETWEEN ");
  print(*between.low, Binding::sum);
  add(" AND ");
  print(*between.high, Binding::sum);
}

void Printer::form(const IsNull& is_null) {
  print(*is_null.operand, Binding::sum);
  add(is_null.negated ? " IS NOT NULL" : " IS NULL");
}

void Printer::form(const ScalarSubquery& subquery) {
  add("(");
  print(*subquery.query);
  add(")");
}

void Printer::form(const ArrayLiteral& array) {
  add("[");
  add_list(array.elements, [&](const ExpressionPtr& element) { print(*element); });
  add("]");
}

void Printer::form(const Transposed& transposed) {
  const bool parentheses = needs_parentheses_before_dot(*transposed.operand);
  if (parentheses) add("(");
  print(*transposed.operand, parentheses ? Binding::disjunction : Binding::postfix);
  add(parentheses ? ").T" : ".T");
}

void Printer::form(const Slice& slice) {
  if (slice.is_ellipsis) return add("...");
  if (slice.from) print(*slice.from);
  add(":");
  if (slice.to) print(*slice.to);
  if (!slice.step) return;
  add(slice.to ? ":" : " :");  // :: could be a cast
  print(*slice.step);
}

void Printer::form(const Indexed& indexed) {
  const bool parentheses = !std::holds_alternative<Name>(indexed.operand->node) &&
                           needs_parentheses_before_dot(*indexed.operand);
  if (parentheses) add("(");
  print(*indexed.operand, parentheses ? Binding::disjunction : Binding::postfix);
  add(parentheses ? ")[" : "[");
  for (std::size_t i = 0; i < indexed.indices.size(); ++i) {
    if (i > 0) add(", ");
    print(*indexed.indices[i]);
  }
  add("]");
}

void Printer::form(const Versioned& versioned) {
  add_name(versioned.name);
  if (in_program_ && !versioned.indices.empty()) {
    add("[");
    add_list(versioned.indices, [&](const ExpressionPtr& index) { print(*index); });
    return add("]");
  }
  for (const ExpressionPtr& index : versioned.indices) {
    add("[");
    print(*index);
    add("]");
  }
}

}  // namespace tessera::sql
