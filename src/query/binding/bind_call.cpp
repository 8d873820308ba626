#include <algorithm>
#include <cctype>

#include "base/check.h"
#include "base/names_text.h"
#include "query/binding/bind_expression.h"

namespace tessera::query {
namespace {

using lang::fail_type;

/// Without case and underscores: crossEntropyDeriv is cross_entropy_deriv.
std::string plain(std::string_view name) {
  std::string result;
  for (char c : name)
    if (c != '_') result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

ParamValue parameter_value(const Expression& expression, const std::string& name) {
  const auto* constant = std::get_if<Constant>(&expression.node);
  if (constant == nullptr || constant->value.is_null())
    fail_type(expression.location, "parameter \"{}\" must be a constant", name);
  if (constant->value.is_text()) return constant->value.text();
  const Tile tile = constant->value.tile();
  if (tile.rank() == 0) {
    if (tile.dtype() == DType::boolean) return tile.at<bool>({});
    if (tile.dtype() == DType::i64) return tile.at<std::int64_t>({});
    return tile.at<double>({});
  }
  if (tile.rank() != 1 || tile.dtype() != DType::i64)
    fail_type(expression.location,
              "parameter \"{}\" must be a number, a text or a list of integers", name);
  const Tile row = tile.contiguous();
  return std::vector<std::int64_t>(row.data<std::int64_t>(),
                                   row.data<std::int64_t>() + row.elements());
}

/// The number beside a tensor in a call such as power(x, 2), which the kernel takes as a parameter.
std::optional<KernelCall> with_number(const Kernel& kernel, std::vector<ExpressionPtr>& arguments) {
  if (arguments.size() != 2) return std::nullopt;
  const auto scalar = kernel_named(kernel.name + "_scalar");
  if (!scalar) return std::nullopt;
  for (int which : {1, 0}) {
    const auto* constant = std::get_if<Constant>(&arguments[which]->node);
    if (constant == nullptr || constant->value.is_null() || constant->value.is_text() ||
        is_tensor(arguments[which]->type) || is_boolean(arguments[which]->type))
      continue;
    const ParamValue value = parameter_value(*arguments[which], "value");
    arguments.erase(arguments.begin() + which);
    return KernelCall(scalar->kernel, {{"value", value}, {"left", which == 0}});
  }
  return std::nullopt;
}

std::string types_text(const std::vector<ExpressionPtr>& arguments) {
  std::string text;
  for (const ExpressionPtr& argument : arguments)
    text += (text.empty() ? "" : ", ") + sql::to_string(argument->type);
  return text;
}

ExpressionPtr coalesce(const std::vector<ExpressionPtr>& arguments, Location location) {
  if (arguments.empty()) fail_type(location, "coalesce needs at least one argument");
  const Type type = common_type(arguments, location, "the arguments of coalesce");
  std::vector<ExpressionPtr> alike;
  for (const ExpressionPtr& argument : arguments)
    alike.push_back(converted(argument, type, location));
  return folded(make(Coalesce{std::move(alike)}, type, location));
}

}  // namespace

std::optional<KernelBinding> kernel_named(const std::string& name) {
  const std::string wanted = plain(name);
  for (const auto& kernel : all_kernels())
    if (plain(kernel->name) == wanted) return KernelBinding{kernel, {}};
  for (const auto& [alias, call] : all_aliases())
    if (plain(alias) == wanted) return resolve_kernel(alias);
  return std::nullopt;
}

KernelBinding function_named(const std::string& name, Location location) {
  if (auto known = kernel_named(name)) return *std::move(known);
  const std::vector<std::string> like = kernels_like(name);
  fail_type(location, "function \"{}\" not found; {}", name,
            like.empty() ? "SHOW FUNCTIONS lists all functions" : did_you_mean(like));
}

std::optional<Fold::Kind> aggregate_kind(const sql::Call& call) {
  if (!call.parameters.empty()) return std::nullopt;  // sum(x, axes=[0]) is about elements
  if (same_name(call.name, "count")) return Fold::Kind::count;
  if (call.arguments.size() != 1) return std::nullopt;
  for (const char* name : {"sum", "min", "max", "avg"})
    if (same_name(call.name, name)) return Fold::Kind::kernel;
  const auto kernel = kernel_named(call.name);
  const bool folds =
      kernel && kernel->kernel->min_arguments == 2 && kernel->kernel->properties.associative;
  return folds ? std::optional(Fold::Kind::kernel) : std::nullopt;
}

ExpressionPtr bind_call(const sql::Call& call, const Scope& scope, Location location) {
  if (aggregate_kind(call)) fail_type(location, "{}: {}", call.name, scope.no_aggregates);
  std::vector<ExpressionPtr> arguments;
  for (const sql::ExpressionPtr& argument : call.arguments)
    arguments.push_back(bind(*argument, scope));
  if (call.star || call.distinct) fail_type(location, "{} is not an aggregate function", call.name);
  if (same_name(call.name, "where"))
    fail_type(location,
              "where is a function of whole tensors; use CASE WHEN ... THEN ... ELSE ... "
              "END in a query");
  if (same_name(call.name, "coalesce")) return coalesce(arguments, location);

  return lang::at_location(location, [&] {
    const KernelBinding named = function_named(call.name, location);
    int output = 0;
    Params params = named.params;
    for (const auto& [name, value] : call.parameters) {
      const ParamValue known = parameter_value(*bind(*value, scope), name);
      if (!same_name(name, "output")) {
        params.set(name, known);
        continue;
      }
      const auto* number = std::get_if<std::int64_t>(&known);
      if (number == nullptr || *number < 0 || *number > 1000)
        fail_type(value->location, "output must be the number of a result of {}, counted from 0",
                  call.name);
      output = static_cast<int>(*number);
    }
    for (const ExpressionPtr& argument : arguments)
      if (is_text(argument->type))
        fail_type(argument->location, "{} needs numbers or tensors, not TEXT", call.name);
    std::optional<KernelCall> with_scalar;
    if (call.parameters.empty()) with_scalar = with_number(*named.kernel, arguments);
    const KernelCall kernel = with_scalar ? *with_scalar : KernelCall(named.kernel, params);
    std::vector<TileType> types;
    for (const ExpressionPtr& argument : arguments) types.push_back(tile_type(argument->type));
    const Kernel& of = kernel.kernel();
    if (std::cmp_less(types.size(), of.min_arguments) ||
        std::cmp_greater(types.size(), of.max_arguments))
      fail_type(location, "{}({}): expected {}{} argument{}", call.name, types_text(arguments),
                of.min_arguments == of.max_arguments ? "" : "at least ", of.min_arguments,
                of.min_arguments == 1 ? "" : "s");
    const std::vector<TileType> results = kernel.infer(types);
    if (output < 0 || std::cmp_greater_equal(output, results.size()))
      fail_type(location, "{} has outputs 0 to {}, not {}", call.name, results.size() - 1, output);
    return folded(make(KernelOf{kernel, arguments, output}, sql_type(results[output]), location));
  });
}

}  // namespace tessera::query
