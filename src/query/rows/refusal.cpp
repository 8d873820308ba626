#include "query/rows/refusal.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace tessera::query {
namespace {

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_factorization(const KernelCall& kernel) {
  constexpr std::array<std::string_view, 6> names = {"inverse", "solve", "cholesky",
                                                     "qr",      "svd",   "eigh"};
  return is_one_of(kernel.kernel().name, names);
}

bool refuses(const KernelCall& kernel, const std::vector<ExpressionPtr>& arguments) {
  std::vector<TileType> types;
  for (const ExpressionPtr& argument : arguments) types.push_back(tile_type(argument->type));
  return may_refuse(kernel, types);
}

/// By zero, or the least integer by -1.
bool may_fail(const IntegerDivision& division) {
  const auto* divisor = std::get_if<Constant>(&division.right->node);
  if (divisor == nullptr) return true;
  return !divisor->value.is_null() &&
         (divisor->value.integer() == 0 || divisor->value.integer() == -1);
}

bool any_part(const Expression& expression, bool (*holds)(const Expression&)) {
  if (holds(expression)) return true;
  const auto operands = operands_of(expression);
  return std::any_of(operands.begin(), operands.end(),
                     [&](const ExpressionPtr& operand) { return any_part(*operand, holds); });
}

bool node_may_refuse(const Expression& expression) {
  if (const auto* kernel = std::get_if<KernelOf>(&expression.node))
    return refuses(kernel->kernel, kernel->arguments);
  if (const auto* operation = std::get_if<Operation>(&expression.node))
    return refuses(operation->kernel, arguments_of(*operation));
  if (const auto* division = std::get_if<IntegerDivision>(&expression.node))
    return may_fail(*division);
  return std::holds_alternative<TextCast>(expression.node) && !is_text(expression.type);
}

bool node_may_refuse_cheaply(const Expression& expression) {
  const auto* kernel = std::get_if<KernelOf>(&expression.node);
  return node_may_refuse(expression) && !(kernel != nullptr && is_factorization(kernel->kernel));
}

}  // namespace

bool may_refuse(const KernelCall& kernel, Types types) {
  constexpr std::array<std::string_view, 2> powers = {"power", "power_scalar"};
  const std::string& name = kernel.kernel().name;
  if (is_factorization(kernel) || is_one_of(name, powers)) return true;
  if (name != "cast" || kernel.params().text("dtype") != to_string(DType::i64)) return false;
  const DType from = types[0].dtype;
  const bool narrows = from == DType::i64 && kernel.params().integer("bits") < 64;
  return from == DType::f32 || from == DType::f64 || narrows;
}

bool may_refuse(const Expression& expression) { return any_part(expression, node_may_refuse); }

bool may_refuse_cheaply(const Expression& expression) {
  return any_part(expression, node_may_refuse_cheaply);
}

}  // namespace tessera::query
