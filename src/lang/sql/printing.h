#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lang/sql/ast.h"
#include "lang/sql/operators.h"
#include "lang/sql/program.h"

namespace tessera::sql {

/// The text so far. What is printed never nests deeper than what it was read from, so that it can
/// be read again: no parentheses are added for beauty.
class Printer {
 public:
  /// In parentheses if it binds more loosely than its place asks for.
  void print(const Expression& expression, Binding place = Binding::disjunction);
  void print(const Query& query);
  void print(const Statement& statement);
  void print_head(const Step& step);
  std::string take() { return std::move(text_); }

 private:
  // Expressions, each for a place that takes it as it is.
  void form(const Literal& literal);
  void form(const Name& name);
  void form(const Star& star);
  void form(const Unary& unary);
  void form(const Binary& binary);
  void form(const Call& call);
  void form(const Case& cases);
  void form(const Cast& cast);
  void form(const InList& in);
  void form(const Between& between);
  void form(const IsNull& is_null);
  void form(const ScalarSubquery& subquery);
  void form(const ArrayLiteral& array);
  void form(const Transposed& transposed);
  void form(const Versioned& versioned);
  void form(const Slice& slice);
  void form(const Indexed& indexed);
  void form(const Tuple& tuple);
  void form(const Range& range);
  void form(const Aggregation& aggregation);
  void form(const std::shared_ptr<const Comprehension>& comprehension);
  void print(const Pattern& pattern);
  void print(const Qualifier& qualifier);

  // Programs: what a step is without the steps inside of it, and all of it.
  void head(const Variable& variable);
  void head(const Definition& definition);
  void head(const Assignment& assignment);
  void head(const ForLoop& loop);
  void head(const WhileLoop& loop);
  void head(const Branch& branch);
  void print(const Steps& steps);

  // Queries.
  void form(const Select& select);
  void form(const Values& values);
  void form(const UnionOf& both);
  void print(const TableReference& table, bool row_may_follow);
  void print(const TableName& table);
  template <class Index>
  void print_indices(const std::vector<Index>& indices);
  void print_part_of_union(const Query& query, bool may_be_union);

  // Statements.
  void form(const QueryPtr& query);
  void form(const CreateTable& table);
  void form(const CreateTensor& tensor);
  void form(const CreateView& view);
  void form(const Insert& insert);
  void form(const Copy& copy);
  void form(const Drop& drop);
  void form(const Rename& rename);
  void form(const Describe& describe);
  void form(const Show& show);
  void form(const DropJob& drop);
  void form(const Set& set);
  void form(const Checkpoint& checkpoint);
  void form(const Vacuum& vacuum);
  void form(const Materialize& materialize);
  void form(const Execute& execute);
  void form(const Explain& explain);
  void form(const std::shared_ptr<const Loop>& loop);
  void print_items(const std::vector<ExecuteItem>& items);
  void print_options(const Options& options);
  void print_sizes(const Shape& shape);

  void add(std::string_view text) { text_ += text; }
  void add_name(const std::string& name);
  void add_string(const std::string& content);
  void add_names(const std::vector<std::string>& names);
  /// The parts with commas in between.
  template <class Part, class Print>
  void add_list(const std::vector<Part>& parts, const Print& print_part) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (i > 0) add(", ");
      print_part(parts[i]);
    }
  }

  std::string text_;
  bool in_call_ = false;     // where = would be taken for that of a parameter
  bool in_program_ = false;  // where A[i, j] is an element
};

}  // namespace tessera::sql
