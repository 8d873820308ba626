#include "query/lowering/evaluation.h"

#include <algorithm>
#include <chrono>
#include <unordered_set>

#include "base/check.h"
#include "exec/statement_memory.h"
#include "query/lowering/lowering.h"

namespace tessera::query {
namespace {

/// The columns of a join's side that it compares with something of the other side.
std::vector<int> compared_columns(const Join& join, std::size_t left_columns, bool of_left) {
  std::vector<int> columns;
  for (const ExpressionPtr& condition : conjuncts(join.condition)) {
    const auto* equality = std::get_if<Operation>(&condition->node);
    if (equality == nullptr || equality->op != BinaryOperator::equal) continue;
    for (const ExpressionPtr& side : {equality->left, equality->right})
      if (const auto* column = std::get_if<ColumnOf>(&side->node);
          column != nullptr && std::cmp_less(column->column, left_columns) == of_left)
        columns.push_back(of_left ? column->column
                                  : column->column - static_cast<int>(left_columns));
  }
  return columns;
}

bool has_tensors(const Schema& schema) {
  return std::any_of(schema.begin(), schema.end(),
                     [](const Column& column) { return is_tensor(column.type); });
}

/// Whether a column that is compared holds integers as values, not as parts of the key.
bool compares_values(const Table& table, const std::vector<int>& columns) {
  return std::any_of(columns.begin(), columns.end(), [&](int column) {
    return std::holds_alternative<int>(table.origins[column]) &&
           is_integer(table.schema[column].type);
  });
}

/// An input as a plan; none if its rows are needed for that and are known when the query runs. In a
/// join with tensors, integers that are compared become parts of the key.
std::optional<Table> input_table(const Node& node, std::size_t which, Value& input,
                                 Dictionary& dictionary, const Settings& settings) {
  std::vector<int> keys;
  const std::vector<NodePtr> below = inputs_of(node);
  if (const auto* join = std::get_if<Join>(&node.op)) {
    keys = compared_columns(*join, below[0]->schema.size(), which == 0);
    const bool with_tensors = has_tensors(below[0]->schema) || has_tensors(below[1]->schema);
    if (input.table && with_tensors && compares_values(*input.table, keys)) {
      const Rows* rows = rows_if_known(input, dictionary, settings);
      if (rows == nullptr) return std::nullopt;
      return table_of(*rows, dictionary, settings.run, keys);
    }
  }
  if (!input.table) input.table = table_of(*input.rows, dictionary, settings.run, keys);
  return *input.table;
}

std::optional<std::vector<Relation>> run_plans(const std::vector<Plan>& plans,
                                               const Settings& settings) {
  RunOptions options = settings.run;
  options.holes = Holes::allowed;
  if (settings.runner != nullptr) return settings.runner->run(plans, options);
  return tessera::run(plans, options);
}

bool looks_at_rows(const Settings& settings) {
  return settings.runner == nullptr || settings.runner->looks_at_rows();
}

/// Where a query is only planned, operators over rows that its text holds are evaluated if there
/// are no more of them than this.
constexpr double most_rows_planned = 10'000;

bool is_worth_planning(const std::vector<Value*>& inputs) {
  double rows = 1;
  for (const Value* input : inputs) {
    if (!input->rows) return false;
    rows *= std::max(1.0, static_cast<double>(input->rows->rows.size()));
  }
  return rows <= most_rows_planned;
}

}  // namespace

bool is_at_hand(const Plan& plan) {
  const auto* input = std::get_if<op::Input>(&operator_of(plan));
  return input != nullptr && (input->relation || input->source);
}

void compute_together(const std::vector<Value*>& values, const Settings& settings) {
  std::vector<Value*> open;
  std::vector<Plan> plans;
  std::unordered_set<const Value*> seen;
  for (Value* value : values) {
    if (!value->is_known() || value->rows || is_at_hand(value->table->plan) ||
        !seen.insert(value).second)
      continue;
    open.push_back(value);
    plans.push_back(value->table->plan);
  }
  if (plans.empty()) return;
  const std::optional<std::vector<Relation>> results = run_plans(plans, settings);
  for (std::size_t i = 0; i < open.size(); ++i) {
    if (results)
      open[i]->table->plan = Plan::input((*results)[i]);
    else
      open[i]->table.reset();
  }
}

const Rows* rows_if_known(Value& value, Dictionary& dictionary, const Settings& settings) {
  if (!value.rows) {
    compute_together({&value}, settings);
    if (!looks_at_rows(settings)) return nullptr;
    value.rows = rows_of(*value.table, dictionary, settings.run.stop);
  }
  return &*value.rows;
}

const Rows& as_rows(Value& value, Dictionary& dictionary, const Settings& settings) {
  const Rows* rows = rows_if_known(value, dictionary, settings);
  TESSERA_INVARIANT(rows != nullptr, "the rows of a query that is only planned");
  return *rows;
}

Value evaluate(const Node& node, const std::vector<Value*>& inputs, Parameters parameters,
               Dictionary& dictionary, const Settings& settings) {
  const auto known_later = [&](const char* why) {
    if (settings.observer != nullptr) settings.observer->known_later(why);
    return Value{};
  };
  const bool all_known = std::all_of(inputs.begin(), inputs.end(),
                                     [](const Value* input) { return input->is_known(); });
  if (!all_known && !settings.by_rows) return known_later("its input is not computed yet");
  const bool any_plan = std::any_of(inputs.begin(), inputs.end(),
                                    [](const Value* input) { return input->table.has_value(); });
  RowWork work;
  if (settings.by_rows)
    work.reason = "by_rows is on";
  else if (!inputs.empty() && !any_plan)
    work.reason = inputs.size() > 1 ? "its inputs are rows" : "its input is rows";
  if (any_plan && !settings.by_rows) {
    std::vector<Table> tables;
    Lowered lowered;
    try {
      const std::vector<NodePtr> below = inputs_of(node);
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        std::optional<Table> table = input_table(node, i, *inputs[i], dictionary, settings);
        if (!table) return known_later("its keys are values that are not computed yet");
        tables.push_back(*std::move(table));
        tables.back().schema = below[i]->schema;
      }
      const auto begin = std::chrono::steady_clock::now();
      lowered = lower(node, tables, parameters);
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
      if (settings.lowering_seconds != nullptr) *settings.lowering_seconds += taken.count();
    } catch (const TypeError& error) {  // NULL has no place in a plan
      lowered.reason = error.what();
    }
    if (lowered.table) return {std::move(lowered.table)};
    work.reason = lowered.reason;
  }
  compute_together(inputs, settings);
  if (!looks_at_rows(settings) && !is_worth_planning(inputs)) {
    if (settings.observer != nullptr) settings.observer->looked_at_rows(work);
    return {};
  }
  std::vector<const Rows*> rows;
  for (Value* input : inputs) rows.push_back(&as_rows(*input, dictionary, settings));
  RowGuard watch(settings.run.stop, exec::memory_limit_of(settings.run));
  for (const Rows* input : rows) watch.hold(*input);
  if (settings.observer == nullptr) return {std::nullopt, evaluate(node, rows, parameters, watch)};
  const auto begin = std::chrono::steady_clock::now();
  Rows made = evaluate(node, rows, parameters, watch);
  work.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  for (const Rows* input : rows) work.rows_in.push_back(std::ssize(input->rows));
  work.rows_out = std::ssize(made.rows);
  settings.observer->looked_at_rows(work);
  return {std::nullopt, std::move(made)};
}

}  // namespace tessera::query
