#include <algorithm>

#include "base/check.h"
#include "lang/sql/operators.h"
#include "query/binding/bind_expression.h"

namespace tessera::query {
namespace {

using lang::fail_type;

bool is_comparison(BinaryOperator op) {
  return op >= BinaryOperator::equal && op <= BinaryOperator::greater_equal;
}

/// The number that an operand is, if it is one that everybody knows.
std::optional<ParamValue> number_in(const Expression& expression) {
  const auto* constant = std::get_if<Constant>(&expression.node);
  if (constant == nullptr || constant->value.is_null() || constant->value.is_text())
    return std::nullopt;
  const Tile tile = constant->value.tile();
  if (tile.rank() > 0 || tile.dtype() == DType::boolean) return std::nullopt;
  if (tile.dtype() == DType::i64) return tile.at<std::int64_t>({});
  return tile.at<double>({});
}

ExpressionPtr text_operation(BinaryOperator op, const ExpressionPtr& left,
                             const ExpressionPtr& right, Location location) {
  const bool both = is_text(left->type) && is_text(right->type);
  if (!both || !is_comparison(op))
    fail_type(location, "operator {} is not defined for {} and {}{}", sql::to_string(op),
              sql::to_string(left->type), sql::to_string(right->type),
              both ? "" : "; CAST one of them");
  return folded(make(TextComparison{op, left, right}, boolean_type, location));
}

ExpressionPtr kernel_operation(BinaryOperator op, const ExpressionPtr& left,
                               const ExpressionPtr& right, Location location) {
  const std::string name(kernel_of(op));
  TESSERA_INVARIANT(!name.empty(), "{} has no kernel", sql::to_string(op));
  const bool has_scalar = op != BinaryOperator::matmul && op != BinaryOperator::logical_and &&
                          op != BinaryOperator::logical_or;
  const auto number_left = number_in(*left), number_right = number_in(*right);
  // A number beside a tensor, or a column, takes its dtype; two numbers are computed right away.
  if (has_scalar && number_left.has_value() != number_right.has_value()) {
    const bool is_left = number_left.has_value();
    const KernelCall kernel(name + "_scalar",
                            {{"value", is_left ? *number_left : *number_right}, {"left", is_left}});
    const TileType operand = tile_type((is_left ? right : left)->type);
    const TileType type = kernel.infer(std::vector<TileType>{operand}).at(0);
    return folded(make(Operation{op, left, right, kernel}, sql_type(type), location));
  }
  const KernelCall kernel(name);
  const TileType type =
      kernel.infer(std::vector<TileType>{tile_type(left->type), tile_type(right->type)}).at(0);
  return folded(make(Operation{op, left, right, kernel}, sql_type(type), location));
}

}  // namespace

bool is_null(const Expression& expression) {
  const auto* constant = std::get_if<Constant>(&expression.node);
  return constant != nullptr && constant->value.is_null();
}

ExpressionPtr bind_operation(BinaryOperator op, const ExpressionPtr& left,
                             const ExpressionPtr& right, Location location) {
  const bool logical = op == BinaryOperator::logical_and || op == BinaryOperator::logical_or;
  if (is_null(*left) || is_null(*right)) {
    // The NULL that is written is of no type; what it makes NULL has one.
    const bool left_is_written = is_null(*left) && is_text(left->type);
    const bool takes_right = left_is_written || (is_null(*left) && !is_null(*right));
    const ExpressionPtr& other = takes_right ? right : left;
    if (logical)
      return folded(
          make(Operation{op, left, right, std::string(kernel_of(op))}, boolean_type, location));
    return make(Constant{}, is_comparison(op) ? boolean_type : other->type, location);
  }
  if (logical) {
    for (const ExpressionPtr& side : {left, right})
      if (!is_boolean(side->type) &&
          !(is_tensor(side->type) && side->type.element == DType::boolean))
        fail_type(side->location, "argument of {} must be BOOLEAN, not {}", sql::to_string(op),
                  sql::to_string(side->type));
  }
  if (is_text(left->type) || is_text(right->type)) return text_operation(op, left, right, location);
  if (op == BinaryOperator::integer_divide || op == BinaryOperator::remainder) {
    if (!is_integer(left->type) || !is_integer(right->type))
      fail_type(location, "arguments of {} must be integers, not {} and {}", sql::to_string(op),
                sql::to_string(left->type), sql::to_string(right->type));
    return folded(make(IntegerDivision{op, left, right}, {Type::Kind::bigint}, location));
  }
  return lang::at_location(location, [&] { return kernel_operation(op, left, right, location); });
}

Type common_type(const std::vector<ExpressionPtr>& values, Location, std::string_view what) {
  std::optional<Type> common;
  for (const ExpressionPtr& value : values) {
    if (is_null(*value)) continue;
    if (!common) {
      common = value->type;
      continue;
    }
    if (*common == value->type) continue;
    const TileType a = tile_type(*common), b = tile_type(value->type);
    if (is_text(*common) != is_text(value->type) || a.shape.rank() != b.shape.rank())
      fail_type(value->location, "{} have types {} and {}, which cannot be matched", what,
                sql::to_string(*common), sql::to_string(value->type));
    TileType both{promote(a.dtype, b.dtype), a.shape};
    for (int d = 0; d < b.shape.rank(); ++d) both.shape[d] = std::max(a.shape[d], b.shape[d]);
    common = sql_type(both);
  }
  // Of NULLs alone, one that comes of a computation is of its type.
  for (const ExpressionPtr& value : values)
    if (!common && !is_text(value->type)) common = value->type;
  return common.value_or(Type{Type::Kind::text});
}

ExpressionPtr converted(const ExpressionPtr& expression, const Type& type, Location location) {
  if (expression->type == type) return expression;
  if (is_null(*expression)) return make(Constant{}, type, expression->location);
  const TileType have = tile_type(expression->type), wanted = tile_type(type);
  const bool fits = is_text(expression->type) == is_text(type) &&
                    have.shape.rank() == wanted.shape.rank() &&
                    std::equal(have.shape.begin(), have.shape.end(), wanted.shape.begin(),
                               [](std::int64_t a, std::int64_t b) { return a <= b; });
  const bool narrows = promote(have.dtype, wanted.dtype) != wanted.dtype &&
                       !(wanted.dtype == DType::f32 && have.dtype != DType::boolean);
  if (!fits || narrows)
    fail_type(location.offset > 0 ? location : expression->location, "cannot convert {} to {}{}",
              sql::to_string(expression->type), sql::to_string(type),
              fits && narrows ? "; add a CAST" : "");
  if (have.dtype == wanted.dtype) return make(expression->node, type, expression->location);
  const KernelCall kernel("cast", {{"dtype", std::string(to_string(wanted.dtype))}});
  return folded(make(KernelOf{kernel, {expression}}, type, expression->location));
}

}  // namespace tessera::query
