#include "query/lowering/key_translation.h"

#include <limits>

#include "key/interval.h"

namespace tessera::query {
namespace {

/// What the components of keys below a frontier can be.
Bounds bounds_of(const Key& frontier) {
  Bounds bounds;
  for (const std::int64_t extent : frontier)
    bounds.push_back({0, extent == unknown_extent ? std::numeric_limits<std::int64_t>::max()
                                                  : std::max<std::int64_t>(extent - 1, 0)});
  return bounds;
}

/// An INT that is made of a BIGINT, if all that it can be fits.
std::optional<KeyExpr> narrowed(const std::optional<KeyExpr>& operand, const Key& frontier) {
  if (!operand) return std::nullopt;
  const auto range = Ranges(bounds_of(frontier))(*operand);
  const bool fits = range && range->low >= std::numeric_limits<std::int32_t>::min() &&
                    range->high <= std::numeric_limits<std::int32_t>::max();
  return fits ? operand : std::nullopt;
}

}  // namespace

std::optional<KeyExpr> key_expression(const Expression& expression,
                                      const std::vector<Table::ColumnOrigin>& origins,
                                      Parameters parameters) {
  if (!is_integer(expression.type)) return std::nullopt;
  const auto part = [&](const ExpressionPtr& of) {
    return key_expression(*of, origins, parameters);
  };
  if (const auto* column = std::get_if<ColumnOf>(&expression.node)) {
    const auto* key = std::get_if<KeyExpr>(&origins.at(column->column));
    return key == nullptr ? std::nullopt : std::optional(*key);
  }
  if (const auto* constant = std::get_if<Constant>(&expression.node)) {
    if (constant->value.is_null()) return std::nullopt;
    return KeyExpr(constant->value.integer());
  }
  if (const auto* parameter = std::get_if<Parameter>(&expression.node))
    return KeyExpr(parameters[parameter->index]);
  if (const auto* division = std::get_if<IntegerDivision>(&expression.node)) {
    const auto left = part(division->left), right = part(division->right);
    if (!left || !right) return std::nullopt;
    return division->op == BinaryOperator::integer_divide ? *left / *right : *left % *right;
  }
  if (const auto* kernel = std::get_if<KernelOf>(&expression.node);
      kernel != nullptr && kernel->kernel.kernel().name == "neg") {
    const auto operand = part(kernel->arguments[0]);
    return operand ? std::optional(KeyExpr(0) - *operand) : std::nullopt;
  }
  const auto* operation = std::get_if<Operation>(&expression.node);
  if (operation == nullptr) return std::nullopt;
  const auto left = part(operation->left), right = part(operation->right);
  if (!left || !right) return std::nullopt;
  switch (operation->op) {
    case BinaryOperator::add: return *left + *right;
    case BinaryOperator::subtract: return *left - *right;
    case BinaryOperator::multiply: return *left * *right;
    default: return std::nullopt;
  }
}

std::optional<KeyExpr> key_expression(const Expression& expression,
                                      const std::vector<Table::ColumnOrigin>& origins,
                                      Parameters parameters, const Key& frontier) {
  const auto* kernel = std::get_if<KernelOf>(&expression.node);
  if (kernel != nullptr && kernel->kernel.kernel().name == "cast") {
    if (!is_integer(expression.type)) return std::nullopt;
    return narrowed(key_expression(*kernel->arguments[0], origins, parameters, frontier), frontier);
  }
  const auto found = key_expression(expression, origins, parameters);
  const bool is_column = std::holds_alternative<ColumnOf>(expression.node);  // seen to before
  if (found && !is_column && !Ranges(bounds_of(frontier))(*found)) return std::nullopt;
  return found;
}

std::optional<KeyPredicate> key_predicate(const Expression& condition,
                                          const std::vector<Table::ColumnOrigin>& origins,
                                          Parameters parameters, const Key& frontier) {
  if (const auto* constant = std::get_if<Constant>(&condition.node)) {
    if (constant->value.is_text()) return std::nullopt;
    return constant->value.truth() ? KeyPredicate::always() : !KeyPredicate::always();
  }
  if (const auto* negation = std::get_if<Negation>(&condition.node)) {
    const auto operand = key_predicate(*negation->operand, origins, parameters, frontier);
    return operand ? std::optional(!*operand) : std::nullopt;
  }
  const auto* operation = std::get_if<Operation>(&condition.node);
  if (operation == nullptr) return std::nullopt;
  const auto both = [&](const auto& combine) -> std::optional<KeyPredicate> {
    const auto left = key_predicate(*operation->left, origins, parameters, frontier);
    const auto right = key_predicate(*operation->right, origins, parameters, frontier);
    if (!left || !right) return std::nullopt;
    return combine(*left, *right);
  };
  const auto compared = [&](const auto& compare) -> std::optional<KeyPredicate> {
    const auto left = key_expression(*operation->left, origins, parameters, frontier);
    const auto right = key_expression(*operation->right, origins, parameters, frontier);
    if (!left || !right) return std::nullopt;
    return compare(*left, *right);
  };
  using P = KeyPredicate;
  using E = KeyExpr;
  switch (operation->op) {
    case BinaryOperator::logical_and: return both([](const P& a, const P& b) { return a && b; });
    case BinaryOperator::logical_or: return both([](const P& a, const P& b) { return a || b; });
    case BinaryOperator::equal: return compared([](const E& a, const E& b) { return a == b; });
    case BinaryOperator::not_equal: return compared([](const E& a, const E& b) { return a != b; });
    case BinaryOperator::less: return compared([](const E& a, const E& b) { return a < b; });
    case BinaryOperator::less_equal: return compared([](const E& a, const E& b) { return a <= b; });
    case BinaryOperator::greater: return compared([](const E& a, const E& b) { return a > b; });
    case BinaryOperator::greater_equal:
      return compared([](const E& a, const E& b) { return a >= b; });
    default: return std::nullopt;
  }
}

}  // namespace tessera::query
