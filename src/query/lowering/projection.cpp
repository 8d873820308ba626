#include "query/lowering/projection.h"

#include <algorithm>

#include "base/check.h"
#include "ia/list_tuples.h"
#include "query/binding/bind_expression.h"
#include "query/rows/kernel_location.h"
#include "query/rows/refusal.h"

namespace tessera::query {
namespace {

/// The kernel that computes a node of its arguments; none where rows have to be looked at.
struct KernelStep {
  KernelCall kernel;
  std::vector<ExpressionPtr> arguments;
  int output = 0;
};

std::optional<KernelStep> step_of(const Expression& expression) {
  if (const auto* kernel = std::get_if<KernelOf>(&expression.node))
    return KernelStep{kernel->kernel, kernel->arguments, kernel->output};
  if (const auto* operation = std::get_if<Operation>(&expression.node))
    return KernelStep{operation->kernel, arguments_of(*operation)};
  if (const auto* negation = std::get_if<Negation>(&expression.node))
    return KernelStep{"logical_not", {negation->operand}};
  return std::nullopt;
}

std::vector<TileType> argument_types(const KernelStep& step) {
  std::vector<TileType> types;
  for (const ExpressionPtr& argument : step.arguments) types.push_back(tile_type(argument->type));
  return types;
}

std::size_t outputs_of(const KernelStep& step) {
  return step.kernel.infer(argument_types(step)).size();
}

/// AND and OR do not evaluate their second side if the first decides; kernels evaluate both.
bool stops_short_of_errors(const Expression& expression) {
  const auto* operation = std::get_if<Operation>(&expression.node);
  return operation != nullptr &&
         (operation->op == BinaryOperator::logical_and ||
          operation->op == BinaryOperator::logical_or) &&
         may_refuse(*operation->right);
}

int position(std::vector<ExpressionPtr>& list, const ExpressionPtr& expression) {
  const auto found = std::find_if(
      list.begin(), list.end(), [&](const ExpressionPtr& one) { return same(*one, *expression); });
  if (found != list.end()) return static_cast<int>(found - list.begin());
  list.push_back(expression);
  return static_cast<int>(list.size()) - 1;
}

}  // namespace

ExpressionPtr with_parameters(const ExpressionPtr& expression, Parameters parameters) {
  if (parameters.empty()) return expression;
  if (const auto* parameter = std::get_if<Parameter>(&expression->node))
    return make(Constant{Cell::of(parameters[parameter->index])}, expression->type,
                expression->location);
  std::vector<ExpressionPtr> operands = operands_of(*expression);
  bool changed = false;
  for (ExpressionPtr& operand : operands) {
    const ExpressionPtr before = operand;
    operand = with_parameters(operand, parameters);
    changed = changed || operand != before;
  }
  if (!changed) return expression;
  // A number takes the dtype of what it stands beside: the kernel may be another one.
  if (const auto* operation = std::get_if<Operation>(&expression->node))
    return bind_operation(operation->op, operands[0], operands[1], expression->location);
  return folded(with_operands(*expression, std::move(operands)));
}

bool ProjectionMaker::admits(const std::vector<ExpressionPtr>& outputs) {
  for (const ExpressionPtr& output : outputs) {
    const ExpressionPtr known = with_parameters(output, parameters_);
    const bool is_key = key_expression(*known, origins_, parameters_, frontier_).has_value();
    if (!is_key && !admit(known)) return false;
    outputs_.push_back(known);
    is_key_.push_back(is_key);
  }
  return true;
}

bool ProjectionMaker::admits_as_values(const std::vector<ExpressionPtr>& outputs) {
  for (const ExpressionPtr& output : outputs) {
    outputs_.push_back(with_parameters(output, parameters_));
    is_key_.push_back(false);
    if (!admit(outputs_.back())) return false;
  }
  return true;
}

bool ProjectionMaker::admit(const ExpressionPtr& expression) {
  if (const auto* column = std::get_if<ColumnOf>(&expression->node))
    if (std::holds_alternative<int>(origins_.at(column->column))) return true;
  const auto of_key = key_expression(*expression, origins_, parameters_, frontier_);
  const auto* constant = std::get_if<Constant>(&expression->node);
  if (of_key || constant != nullptr) {
    if (constant != nullptr && (constant->value.is_null() || constant->value.is_text()))
      return false;
    const bool known = std::any_of(extras_.begin(), extras_.end(), [&](const Extra& extra) {
      return same(*extra.expression, *expression);
    });
    if (!known) extras_.push_back({expression, of_key});
    return true;
  }
  const auto step = step_of(*expression);
  if (!step || outputs_of(*step) != 1 || stops_short_of_errors(*expression)) return false;
  return std::all_of(step->arguments.begin(), step->arguments.end(),
                     [&](const ExpressionPtr& argument) { return admit(argument); });
}

std::optional<int> ProjectionMaker::column(const Expression& expression, int first_extra) const {
  if (const auto* column = std::get_if<ColumnOf>(&expression.node))
    if (const auto* payload = std::get_if<int>(&origins_.at(column->column))) return *payload;
  for (std::size_t e = 0; e < extras_.size(); ++e)
    if (same(*extras_[e].expression, expression)) return first_extra + static_cast<int>(e);
  return std::nullopt;
}

int ProjectionMaker::level(const ExpressionPtr& expression) const {
  if (column(*expression, 0)) return 0;
  int above = 0;
  const auto step = step_of(*expression);
  for (const ExpressionPtr& argument : step->arguments) above = std::max(above, level(argument));
  return above + 1;
}

Projection ProjectionMaker::make(int first_extra) const {
  // From the outputs down: what a stage has to have, and of what it makes it.
  std::vector<ExpressionPtr> wanted;
  Projection result;
  int levels = 0;
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    if (is_key_[o]) {
      result.origins.emplace_back(*key_expression(*outputs_[o], origins_, parameters_, frontier_));
      continue;
    }
    result.origins.emplace_back(position(wanted, outputs_[o]));
    levels = std::max(levels, level(outputs_[o]));
  }
  for (int stage = std::max(levels, 1); stage > 0; --stage) {
    std::vector<ExpressionPtr> below;
    std::vector<Apply> applies;
    const auto source = [&](const ExpressionPtr& expression) {
      return stage == 1 ? *column(*expression, first_extra) : position(below, expression);
    };
    for (const ExpressionPtr& one : wanted) {
      if (level(one) < stage) {
        applies.push_back(Apply::column(source(one)));
        continue;
      }
      const auto step = step_of(*one);
      std::vector<int> columns;
      for (const ExpressionPtr& argument : step->arguments) columns.push_back(source(argument));
      const bool refuses = may_refuse(step->kernel, argument_types(*step));
      applies.emplace_back(refuses ? placed(step->kernel, one->location) : step->kernel,
                           std::move(columns));
    }
    result.stages.insert(result.stages.begin(), std::move(applies));
    wanted = std::move(below);
  }
  return result;
}

namespace {

/// The plan joined with the values of an extra.
Plan with_extra(const Plan& plan, const Extra& extra, const std::vector<Apply>& projection) {
  const TileType type = tile_type(extra.expression->type);
  std::vector<int> components;
  Key extents;
  TileSource source;
  if (extra.of_key) {
    // The values of a function of the key, as a relation over the components that it reads.
    const int arity = extra.of_key->arity();
    for (int d = 0; d < arity; ++d) {
      components.push_back(d);
      extents.push_back(std::max<std::int64_t>(plan.frontier()[d], 0));
    }
    source = [of = *extra.of_key](const Key& at) {
      return std::vector<Tile>{Tile::scalar(of.evaluate(at))};
    };
  } else {
    const Tile tile = std::get<Constant>(extra.expression->node).value.tile();
    source = [tile](const Key&) { return std::vector<Tile>{tile}; };
  }
  const Plan values = Plan::input(RelationType{{{"", type}}, extents}, source, "values");
  return plan.join(values, components, components, projection);
}

/// Whether a stage yields what it gets, column by column. It would stand between a join and the
/// aggregation that adds its products up as they are made.
bool changes_nothing(const std::vector<Apply>& stage, const Plan& plan) {
  bool same = std::cmp_equal(stage.size(), payload_columns(plan));
  for (std::size_t c = 0; same && c < stage.size(); ++c)
    same = !stage[c].kernel && std::cmp_equal(stage[c].columns[0], c);
  return same;
}

}  // namespace

Plan projected(const Plan& plan, const std::vector<Extra>& extras,
               const std::vector<std::vector<Apply>>& stages) {
  Plan result = plan;
  auto next = stages.begin();
  // The last join with extras makes the first stage.
  for (std::size_t e = 0; e < extras.size(); ++e) {
    const bool last = e + 1 == extras.size();
    result =
        with_extra(result, extras[e], last ? *next++ : columns_below(payload_columns(result) + 1));
  }
  for (; next != stages.end(); ++next)
    if (!next->empty() && !changes_nothing(*next, result)) result = result.transform(*next);
  return result;
}

std::optional<std::string> extras_refused(const Plan& plan, const std::vector<Extra>& extras) {
  if (extras.empty()) return std::nullopt;
  const Key& frontier = plan.frontier();
  if (std::find(frontier.begin(), frontier.end(), unknown_extent) != frontier.end())
    return "the extents of the keys are unknown";
  constexpr double always_listed = 100'000;
  double most = 0;
  for (const Extra& extra : extras) {
    if (!extra.of_key) continue;
    double listed = 1;
    for (int d = 0; d < extra.of_key->arity(); ++d) listed *= static_cast<double>(frontier[d]);
    most = std::max(most, listed);
  }
  if (most > always_listed && most > 4 * ia::estimated_tuples(plan))
    return "few of the possible keys have tuples";
  return std::nullopt;
}

std::vector<Apply> columns_below(int count) {
  std::vector<Apply> all;
  for (int c = 0; c < count; ++c) all.push_back(Apply::column(c));
  return all;
}

void choose(std::vector<std::vector<Apply>>& stages, const std::vector<int>& columns) {
  const std::vector<Apply>& last = stages.back();
  std::vector<Apply> chosen, numbered;
  bool again = false;  // whether a kernel would run a second time
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const Apply& one = last[static_cast<std::size_t>(columns[c])];
    again = again || (one.kernel && std::count(columns.begin(), columns.end(), columns[c]) > 1);
    chosen.push_back(one);
    numbered.push_back(Apply::column(columns[c]));
  }
  if (again)
    stages.push_back(std::move(numbered));
  else
    stages.back() = std::move(chosen);
}

int payload_columns(const Plan& plan) { return static_cast<int>(plan.type().columns.size()); }

}  // namespace tessera::query
