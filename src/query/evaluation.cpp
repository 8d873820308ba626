#include "query/evaluation.h"

#include "base/check.h"
#include "query/lowering.h"

namespace tessera::query {
namespace {

bool is_at_hand(const Plan& plan) {
  const auto* input = std::get_if<op::Input>(&operator_of(plan));
  return input != nullptr && (input->relation || input->source);
}

/// The columns of a join's sides that it compares with a column of the other side.
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
  for (const Column& column : schema)
    if (is_tensor(column.type)) return true;
  return false;
}

}  // namespace

Table computed(const Table& table, const Settings& settings) {
  if (is_at_hand(table.plan)) return table;
  RunOptions options = settings.run;
  options.holes = Holes::allowed;
  const Relation relation =
      settings.compute ? settings.compute(table.plan) : tessera::run(table.plan, options);
  return {table.schema, table.places, Plan::input(relation)};
}

const Value& Evaluation::value(const NodePtr& node) {
  if (const auto* scan = std::get_if<Scan>(&node->op)) return inputs_.at(scan->input);
  const auto found = values_.find(node.get());
  if (found != values_.end()) return found->second;
  return values_[node.get()] = evaluated(*node);
}

const Table& Evaluation::table(const NodePtr& node) {
  return as_table(const_cast<Value&>(value(node)));
}

const Rows& Evaluation::rows(const NodePtr& node) {
  return as_rows(const_cast<Value&>(value(node)));
}

const Rows& Evaluation::as_rows(Value& value) {
  if (!value.rows) {
    value.table = computed(*value.table, settings_);
    value.rows = rows_of(*value.table, dictionary_);
  }
  return *value.rows;
}

const Table& Evaluation::as_table(Value& value, const std::vector<int>& keys) {
  if (!value.table) value.table = table_of(*value.rows, dictionary_, keys);
  return *value.table;
}

Value Evaluation::evaluated(const Node& node) {
  const std::vector<NodePtr> inputs = inputs_of(node);
  bool plans = !settings_.by_rows && !inputs.empty();
  bool any_table = false;
  for (const NodePtr& input : inputs) any_table = value(input).table.has_value() || any_table;
  plans = plans && any_table;
  if (plans) {
    // Rows that meet tensors join them, their columns of integers being keys.
    std::vector<Table> tables;
    const auto* join = std::get_if<Join>(&node.op);
    std::string reason;
    for (std::size_t i = 0; i < inputs.size() && reason.empty(); ++i) {
      auto& input = const_cast<Value&>(value(inputs[i]));
      std::vector<int> keys;
      if (join != nullptr) {
        keys = compared_columns(*join, inputs[0]->schema.size(), i == 0);
        const bool is_payload =
            input.table && std::any_of(keys.begin(), keys.end(), [&](int column) {
              return std::holds_alternative<int>(input.table->places[column]) &&
                     is_integer(input.table->schema[column].type);
            });
        const bool with_tensors = has_tensors(inputs[0]->schema) || has_tensors(inputs[1]->schema);
        if (is_payload && with_tensors) {
          tables.push_back(table_of(as_rows(input), dictionary_, keys));
          continue;
        }
      }
      try {
        tables.push_back(as_table(input, keys));
      } catch (const TypeError& error) {
        reason = error.what();  // NULL has no place in a plan
      }
      if (!tables.empty()) tables.back().schema = inputs[i]->schema;
    }
    if (reason.empty()) {
      Lowered lowered = lower(node, tables, parameters_);
      if (lowered.table) return {std::move(lowered.table)};
      reason = std::move(lowered.reason);
    }
    reasons_[&node] = reason;
  }
  std::vector<const Rows*> rows;
  for (const NodePtr& input : inputs) rows.push_back(&this->rows(input));
  return {std::nullopt, evaluate(node, rows, parameters_)};
}

}  // namespace tessera::query
