#pragma once

#include "query/binding/bind_expression.h"

namespace tessera::query {

/// The tables of WITH clauses that can be seen, the innermost last. Each is bound once: what reads
/// it several times shares it.
using CommonTables = std::vector<std::pair<std::string, NodePtr>>;

/// Binds queries and those inside them.
class QueryBinder {
 public:
  QueryBinder(Resolver& resolver, const BinderOptions& options)
      : resolver_(resolver), options_(options) {}

  NodePtr query(const sql::Query& query, CommonTables tables);
  /// What stands in a FROM clause (bind_table.cpp).
  NodePtr table(const sql::TableReference& reference, const CommonTables& tables);
  /// bind_select.cpp.
  NodePtr select(const sql::Select& select, const std::vector<sql::OrderItem>& order_by,
                 const CommonTables& tables);

 private:
  NodePtr limited(const sql::Query& query, const NodePtr& node) const;
  NodePtr values(const sql::Values& written, Location location) const;
  NodePtr united(const sql::UnionOf& written, const CommonTables& tables, Location location);

  Resolver& resolver_;
  const BinderOptions& options_;
  int views_ = 0;  // how deep they read each other
};

/// The same rows under the name of a table, with other names for the first columns.
NodePtr renamed(const NodePtr& node, const std::string& table,
                const std::vector<std::string>& columns, Location location);

/// Rows of several tables, their columns brought to common types.
NodePtr union_of(std::vector<NodePtr> inputs, Location location);

/// A column of the result by its name or its number, counted from 1.
ExpressionPtr column_of_result(const sql::Expression& written, const Schema& schema,
                               const std::vector<std::string>& parameters);

}  // namespace tessera::query
