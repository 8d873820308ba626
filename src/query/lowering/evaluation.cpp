#include "query/lowering/evaluation.h"

#include <algorithm>
#include <chrono>
#include <unordered_set>

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
    return std::holds_alternative<int>(table.places[column]) &&
           is_integer(table.schema[column].type);
  });
}

/// An input as a plan. In a join with tensors, integers that are compared become parts of the key.
Table input_table(const Node& node, std::size_t which, Value& input, Dictionary& dictionary,
                  const Settings& settings) {
  std::vector<int> keys;
  const std::vector<NodePtr> below = inputs_of(node);
  if (const auto* join = std::get_if<Join>(&node.op)) {
    keys = compared_columns(*join, below[0]->schema.size(), which == 0);
    const bool with_tensors = has_tensors(below[0]->schema) || has_tensors(below[1]->schema);
    if (input.table && with_tensors && compares_values(*input.table, keys))
      return table_of(as_rows(input, dictionary, settings), dictionary, keys);
  }
  if (!input.table) input.table = table_of(*input.rows, dictionary, keys);
  return *input.table;
}

}  // namespace

bool is_at_hand(const Plan& plan) {
  const auto* input = std::get_if<op::Input>(&operator_of(plan));
  return input != nullptr && (input->relation || input->source);
}

Table computed(const Table& table, const Settings& settings) {
  if (is_at_hand(table.plan)) return table;
  RunOptions options = settings.run;
  options.holes = Holes::allowed;
  return {table.schema, table.places, Plan::input(tessera::run(table.plan, options))};
}

const Rows& as_rows(Value& value, Dictionary& dictionary, const Settings& settings) {
  if (!value.rows) {
    value.table = computed(*value.table, settings);
    value.rows = rows_of(*value.table, dictionary, settings.run.stop);
  }
  return *value.rows;
}

namespace {

/// Runs what has to be computed before these values can be rows, all at once: they may have much in
/// common, as the versions of a chain have.
void compute_together(const std::vector<Value*>& values, const Settings& settings) {
  std::vector<Value*> open;
  std::vector<Plan> plans;
  std::unordered_set<const Value*> seen;
  for (Value* value : values) {
    if (value->rows || is_at_hand(value->table->plan) || !seen.insert(value).second) continue;
    open.push_back(value);
    plans.push_back(value->table->plan);
  }
  if (plans.size() < 2) return;
  RunOptions options = settings.run;
  options.holes = Holes::allowed;
  const std::vector<Relation> results = tessera::run(plans, options);
  for (std::size_t i = 0; i < open.size(); ++i) open[i]->table->plan = Plan::input(results[i]);
}

}  // namespace

Value evaluate(const Node& node, const std::vector<Value*>& inputs, Parameters parameters,
               Dictionary& dictionary, const Settings& settings) {
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
        tables.push_back(input_table(node, i, *inputs[i], dictionary, settings));
        tables.back().schema = below[i]->schema;
      }
      lowered = lower(node, tables, parameters);
    } catch (const TypeError& error) {  // NULL has no place in a plan
      lowered.reason = error.what();
    }
    if (lowered.table) return {std::move(lowered.table)};
    work.reason = lowered.reason;
  }
  compute_together(inputs, settings);
  std::vector<const Rows*> rows;
  for (Value* input : inputs) rows.push_back(&as_rows(*input, dictionary, settings));
  RowWatch watch(settings.run.stop, exec::memory_limit_of(settings.run));
  for (const Rows* input : rows) watch.hold(*input);
  if (settings.watcher == nullptr) return {std::nullopt, evaluate(node, rows, parameters, watch)};
  const auto begin = std::chrono::steady_clock::now();
  Rows made = evaluate(node, rows, parameters, watch);
  work.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  for (const Rows* input : rows) work.rows_in.push_back(std::ssize(input->rows));
  work.rows_out = std::ssize(made.rows);
  settings.watcher->looked_at_rows(work);
  return {std::nullopt, std::move(made)};
}

}  // namespace tessera::query
