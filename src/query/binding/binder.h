#pragma once

#include <functional>

#include "query/rows/node.h"

// From what was written to what it means: names are resolved, types inferred and kernels chosen,
// for the whole query and before anything runs.

namespace tessera::query {

/// A table, or a version of one, that a query reads.
struct Source {
  int input;  // its number among those that the query reads
  Schema schema;
};

/// Who knows the tables. Errors are ErrorAt or get the place of the reference.
class Resolver {
 public:
  virtual ~Resolver() = default;
  /// The tables a reference stands for: one, or the versions of a UNION of some.
  virtual std::vector<Source> tables(const sql::TableReference& reference) = 0;
  /// The definition of a view, with the names of its columns if it says so; null if it is none.
  struct View {
    sql::QueryPtr query;
    std::vector<std::string> columns;
  };
  virtual std::optional<View> view(const std::string& name) = 0;
};

struct BinderOptions {
  /// The indices of the version that is computed, by their names in the text.
  std::vector<std::string> parameters = {};
  /// What the columns of the result will be called: VALUES without names of its own takes them.
  std::vector<std::string> target_columns = {};
};

NodePtr bind(const sql::Query& query, Resolver& resolver, const BinderOptions& options = {});

/// What the column of an item of a SELECT is called; `position` counts from 0.
std::string column_name(const sql::SelectItem& item, std::size_t position);

/// An expression without columns, such as a limit or an index.
ExpressionPtr bind_constant(const sql::Expression& expression,
                            const std::vector<std::string>& parameters);

/// The value in a column's type; TypeError if there is no such conversion without saying CAST.
ExpressionPtr converted(const ExpressionPtr& expression, const Type& type, Location location);

}  // namespace tessera::query
