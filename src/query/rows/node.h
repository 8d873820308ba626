#pragma once

#include "query/rows/expression.h"
#include "query/rows/row_guard.h"

// Queries as trees of relational operators over multisets of rows, every type known.

namespace tessera::query {

struct Node;
using NodePtr = std::shared_ptr<const Node>;

/// A table or a version of one, by its position among those that the query reads.
struct Scan {
  int input;
};
struct ConstantRows {
  std::vector<std::vector<ExpressionPtr>> rows;
};
struct Filter {
  NodePtr input;
  ExpressionPtr condition;
};
/// Pairs of rows that satisfy a condition (null: all pairs); the outputs are computed of both.
struct Join {
  NodePtr left, right;
  ExpressionPtr condition;
  std::vector<ExpressionPtr> outputs;
};
struct Project {
  NodePtr input;
  std::vector<ExpressionPtr> outputs;
};
/// What becomes of the values of a group: a fold by an associative kernel, their number, or, of
/// texts, the first or the last one.
struct Fold {
  enum class Kind { kernel, count, first, last };
  Kind kind = Kind::kernel;
  std::optional<KernelCall> kernel = {};
  ExpressionPtr argument = {};  // null: of COUNT(*)
  bool distinct = false;
  Location location = {};
};
/// A row a group: the values that make it, and then the folds. Without any, there is one group,
/// even of no rows: the fold of nothing is NULL.
struct Aggregate {
  NodePtr input;
  std::vector<ExpressionPtr> group_by;
  std::vector<Fold> folds;
};
struct UnionAll {
  std::vector<NodePtr> inputs;
};
struct Distinct {
  NodePtr input;
};
struct SortKey {
  ExpressionPtr expression;
  bool descending = false;
};
struct Sort {
  NodePtr input;
  std::vector<SortKey> keys;
};
struct Limit {
  NodePtr input;
  ExpressionPtr limit, offset;  // null: no limit, no offset; constants and parameters otherwise
};
/// The one row of a subquery that stands for a value: NULLs if it has none, an error if it has
/// several.
struct OnlyRow {
  NodePtr input;
  Location location;
};

using Operator = std::variant<Scan, ConstantRows, Filter, Join, Project, Aggregate, UnionAll,
                              Distinct, Sort, Limit, OnlyRow>;

struct Node {
  Operator op;
  Schema schema;
};
NodePtr make_node(Operator op, Schema schema);

std::vector<NodePtr> inputs_of(const Node& node);
/// One line: "Join A.col = B.row -> matmul(A.mat, B.mat)".
std::string describe(const Node& node);
/// The tree, an operator a line.
std::string explain(const Node& node);

/// What an operator yields for rows, by definition. The watch throws if that is to stop, or if it
/// needs too much memory.
Rows evaluate(const Node& node, const std::vector<const Rows*>& inputs, Parameters parameters,
              RowGuard watch = {});

}  // namespace tessera::query
