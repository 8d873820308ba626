#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "base/check.h"
#include "query/rows/node.h"
#include "tra/tuple_operations.h"

// The operators on rows. Inputs are read tuple by tuple, tiles only where an expression wants them.

namespace tessera::query {
namespace {

Row joined(const Row& left, const Row& right) {
  Row both = left;
  both.insert(both.end(), right.begin(), right.end());
  return both;
}

/// Pairs of expressions, one over the left row and one over the right one, that have to be equal.
struct Equalities {
  std::vector<ExpressionPtr> left, right;
  std::vector<ExpressionPtr> others;  // of the condition, over both rows
};

Equalities equalities_of(const Join& join, int left_columns) {
  Equalities found;
  const auto only_left = [&](const ExpressionPtr& e) {
    const auto columns = columns_in(*e);
    return !columns.empty() && columns.back() < left_columns;
  };
  const auto only_right = [&](const ExpressionPtr& e) {
    const auto columns = columns_in(*e);
    return !columns.empty() && columns.front() >= left_columns;
  };
  for (const ExpressionPtr& condition : conjuncts(join.condition)) {
    ExpressionPtr a, b;
    if (const auto* op = std::get_if<Operation>(&condition->node);
        op != nullptr && op->op == BinaryOperator::equal)
      a = op->left, b = op->right;
    if (const auto* op = std::get_if<TextComparison>(&condition->node);
        op != nullptr && op->op == BinaryOperator::equal)
      a = op->left, b = op->right;
    if (a && only_right(a) && only_left(b)) std::swap(a, b);
    if (a && only_left(a) && only_right(b)) {
      std::vector<int> shifted(static_cast<std::size_t>(columns_in(*b).back()) + 1);
      for (std::size_t i = 0; i < shifted.size(); ++i)
        shifted[i] = static_cast<int>(i) - left_columns;
      found.left.push_back(a);
      found.right.push_back(renumber(b, shifted));
    } else {
      found.others.push_back(condition);
    }
  }
  return found;
}

struct RowEvaluator {
  const Node& node;
  const std::vector<const Rows*>& inputs;
  Parameters parameters;
  RowGuard& watch;

  Row values(const std::vector<ExpressionPtr>& of, const Row& row) const {
    Row result;
    result.reserve(of.size());
    for (const ExpressionPtr& one : of) result.push_back(evaluate(*one, row, parameters));
    return result;
  }

  std::vector<Row> operator()(const Scan&) const { return inputs.at(0)->rows; }

  std::vector<Row> operator()(const ConstantRows& op) const {
    std::vector<Row> rows;
    for (const auto& row : op.rows) {
      watch.look();
      rows.push_back(values(row, {}));
    }
    return rows;
  }

  std::vector<Row> operator()(const Filter& op) const {
    std::vector<Row> kept;
    for (const Row& row : inputs[0]->rows) {
      watch.look();
      if (evaluate(*op.condition, row, parameters).truth()) kept.push_back(row);
    }
    return kept;
  }

  std::vector<Row> operator()(const Join& op) const {
    const Equalities equal = equalities_of(op, static_cast<int>(inputs[0]->schema.size()));
    std::unordered_map<Row, std::vector<const Row*>, RowHash, RowEqual> by_value;
    const auto has_null = [](const Row& row) {
      return std::any_of(row.begin(), row.end(), [](const Cell& cell) { return cell.is_null(); });
    };
    for (const Row& right : inputs[1]->rows) {
      watch.look();
      if (Row key = values(equal.right, right); !has_null(key))
        by_value[std::move(key)].push_back(&right);
    }
    std::vector<Row> result;
    for (const Row& left : inputs[0]->rows) {
      watch.look();
      const auto found = by_value.find(values(equal.left, left));
      if (found == by_value.end()) continue;
      for (const Row* right : found->second) {
        watch.look();
        const Row both = joined(left, *right);
        const bool holds = std::all_of(
            equal.others.begin(), equal.others.end(),
            [&](const ExpressionPtr& other) { return evaluate(*other, both, parameters).truth(); });
        if (!holds) continue;
        result.push_back(values(op.outputs, both));
        watch.keep(result.back());
      }
    }
    return result;
  }

  std::vector<Row> operator()(const Project& op) const {
    std::vector<Row> rows;
    for (const Row& row : inputs[0]->rows) {
      watch.look();
      rows.push_back(values(op.outputs, row));
    }
    return rows;
  }

  Cell fold(const Fold& fold, const std::vector<const Row*>& group) const {
    std::int64_t count = 0;
    Cell folded;
    std::unordered_map<Row, bool, RowHash, RowEqual> seen;
    for (const Row* row : group) {
      watch.look();
      if (!fold.argument) {
        ++count;
        continue;
      }
      const Cell cell = evaluate(*fold.argument, *row, parameters);
      if (cell.is_null()) continue;
      if (fold.distinct && !seen.emplace(Row{cell}, true).second) continue;
      ++count;
      folded = folded.is_null() ? cell : both(fold, folded, cell);
    }
    return fold.kind == Fold::Kind::count ? Cell::of(count) : folded;
  }

  static Cell both(const Fold& fold, const Cell& a, const Cell& b) {
    switch (fold.kind) {
      case Fold::Kind::kernel:
        return lang::at_location(fold.location,
                                 [&] { return fold_tiles(*fold.kernel, a.tile(), b.tile()); });
      case Fold::Kind::first: return compare(b, a) < 0 ? b : a;
      case Fold::Kind::last: return compare(b, a) > 0 ? b : a;
      case Fold::Kind::count: break;
    }
    return a;
  }

  std::vector<Row> operator()(const Aggregate& op) const {
    std::vector<std::pair<Row, std::vector<const Row*>>> groups;  // in order of their first rows
    std::unordered_map<Row, std::size_t, RowHash, RowEqual> which;
    if (op.group_by.empty()) groups.push_back({});
    for (const Row& row : inputs[0]->rows) {
      watch.look();
      Row key = values(op.group_by, row);
      const auto [location, added] = which.emplace(key, groups.size());
      if (op.group_by.empty())
        location->second = 0;
      else if (added)
        groups.push_back({std::move(key), {}});
      groups[location->second].second.push_back(&row);
    }
    std::vector<Row> result;
    for (auto& [key, group] : groups) {
      Row row = std::move(key);
      for (const Fold& one : op.folds) row.push_back(fold(one, group));
      result.push_back(std::move(row));
    }
    return result;
  }

  std::vector<Row> operator()(const UnionAll&) const {
    std::vector<Row> all;
    for (const Rows* input : inputs)
      for (const Row& row : input->rows) {
        watch.look();
        watch.keep(row);
        all.push_back(row);
      }
    return all;
  }

  std::vector<Row> operator()(const Distinct&) const {
    std::vector<Row> kept;
    std::unordered_map<Row, bool, RowHash, RowEqual> seen;
    for (const Row& row : inputs[0]->rows) {
      watch.look();
      if (seen.emplace(row, true).second) kept.push_back(row);
    }
    return kept;
  }

  std::vector<Row> operator()(const Sort& op) const {
    std::vector<Row> keys;
    for (const Row& row : inputs[0]->rows) {
      watch.look();
      Row key;
      for (const SortKey& part : op.keys)
        key.push_back(evaluate(*part.expression, row, parameters));
      keys.push_back(std::move(key));
    }
    std::vector<std::size_t> order(keys.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      watch.look();
      for (std::size_t i = 0; i < op.keys.size(); ++i) {
        const int difference = compare(keys[a][i], keys[b][i]);
        if (difference != 0) return op.keys[i].descending ? difference > 0 : difference < 0;
      }
      return false;
    });
    std::vector<Row> sorted;
    for (std::size_t i : order) sorted.push_back(inputs[0]->rows[i]);
    return sorted;
  }

  std::size_t number(const ExpressionPtr& expression, std::size_t otherwise) const {
    if (!expression) return otherwise;
    const Cell cell = evaluate(*expression, {}, parameters);
    if (cell.is_null()) return otherwise;
    const std::int64_t value = cell.integer();
    if (value < 0)
      throw lang::ErrorAt(
          "ValueError", expression->location,
          fmt::format("LIMIT and OFFSET must not be negative, but found {}", value));
    return static_cast<std::size_t>(value);
  }

  std::vector<Row> operator()(const Limit& op) const {
    const std::vector<Row>& all = inputs[0]->rows;
    const std::size_t begin = std::min(number(op.offset, 0), all.size());
    const std::size_t count = std::min(number(op.limit, all.size()), all.size() - begin);
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(begin);
    return {first, first + static_cast<std::ptrdiff_t>(count)};
  }

  std::vector<Row> operator()(const OnlyRow& op) const {
    const std::vector<Row>& all = inputs[0]->rows;
    if (all.size() > 1)
      throw lang::ErrorAt(
          "ValueError", op.location,
          fmt::format("subquery used as a value returned {} rows; add LIMIT 1 or an aggregate",
                      all.size()));
    return all.empty() ? std::vector<Row>{Row(node.schema.size())} : all;
  }
};

}  // namespace

Rows evaluate(const Node& node, const std::vector<const Rows*>& inputs, Parameters parameters,
              RowGuard watch) {
  return {node.schema, std::visit(RowEvaluator{node, inputs, parameters, watch}, node.op)};
}

}  // namespace tessera::query
