#include "support/sql_trees.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>

#include "lang/sql/program.h"

namespace tessera::sql {
namespace {

/// Names as they are if they are plain ones; other characters as their codes.
std::string safe(const std::string& name) {
  std::string text;
  for (const char c : name)
    text += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'
                ? std::string(1, c)
                : fmt::format("%{:02x}", static_cast<unsigned char>(c));
  return text;
}

class Lister {
 public:
  std::string operator()(const ExpressionPtr& expression) const {
    return expression ? tree(*expression) : "-";
  }
  std::string operator()(const QueryPtr& query) const { return query ? tree(*query) : "-"; }

  // Expressions.
  std::string operator()(const Literal& literal) const {
    if (const auto* value = std::get_if<bool>(&literal.value)) return *value ? "true" : "false";
    if (const auto* value = std::get_if<std::int64_t>(&literal.value))
      return fmt::format("{}", *value);
    if (const auto* value = std::get_if<double>(&literal.value)) return fmt::format("{:#}", *value);
    if (const auto* value = std::get_if<std::string>(&literal.value))
      return "'" + safe(*value) + "'";
    if (const auto* value = std::get_if<Tile>(&literal.value)) return to_string(*value);
    return "null";
  }
  std::string operator()(const Name& name) const {
    return name.table.empty() ? safe(name.column) : safe(name.table) + "." + safe(name.column);
  }
  std::string operator()(const Star& star) const {
    return star.table.empty() ? "*" : safe(star.table) + ".*";
  }
  std::string operator()(const Unary& unary) const {
    return list(unary.op == UnaryOperator::minus ? "minus" : "not", {(*this)(unary.operand)});
  }
  std::string operator()(const Binary& binary) const {
    constexpr const char* names[] = {"+",  "-", "*",  "/", "//", "%",   "@", "=",
                                     "<>", "<", "<=", ">", ">=", "and", "or"};
    return list(names[static_cast<int>(binary.op)], {(*this)(binary.left), (*this)(binary.right)});
  }
  std::string operator()(const Call& call) const {
    std::vector<std::string> parts = {safe(call.name)};
    if (call.distinct) parts.emplace_back("distinct");
    if (call.star) parts.emplace_back("star");
    for (const auto& argument : call.arguments) parts.push_back((*this)(argument));
    for (const auto& [name, value] : call.parameters)
      parts.push_back(list(":" + safe(name), {(*this)(value)}));
    return list("call", parts);
  }
  std::string operator()(const Case& cases) const {
    std::vector<std::string> parts = {(*this)(cases.operand)};
    for (const auto& [when, then] : cases.branches)
      parts.push_back(list("when", {(*this)(when), (*this)(then)}));
    parts.push_back((*this)(cases.otherwise));
    return list("case", parts);
  }
  std::string operator()(const Cast& cast) const {
    return list("cast", {(*this)(cast.operand), (*this)(cast.type)});
  }
  std::string operator()(const InList& in) const {
    return list(in.negated ? "not-in" : "in", {(*this)(in.operand), all(in.options)});
  }
  std::string operator()(const Between& between) const {
    return list(between.negated ? "not-between" : "between",
                {(*this)(between.operand), (*this)(between.low), (*this)(between.high)});
  }
  std::string operator()(const IsNull& is_null) const {
    return list(is_null.negated ? "is-not-null" : "is-null", {(*this)(is_null.operand)});
  }
  std::string operator()(const ScalarSubquery& subquery) const {
    return list("subquery", {(*this)(subquery.query)});
  }
  std::string operator()(const ArrayLiteral& array) const {
    return list("array", {all(array.elements)});
  }
  std::string operator()(const Transposed& transposed) const {
    return list("transpose", {(*this)(transposed.operand)});
  }
  std::string operator()(const Versioned& versioned) const {
    return list("version", {safe(versioned.name), all(versioned.indices)});
  }
  std::string operator()(const Slice& slice) const {
    const auto part = [&](const ExpressionPtr& one) { return one ? (*this)(one) : "-"; };
    if (slice.is_ellipsis) return list("slice", {"..."});
    return list("slice", {part(slice.from), part(slice.to), part(slice.step)});
  }
  std::string operator()(const Indexed& indexed) const {
    return list("indexed", {(*this)(indexed.operand), all(indexed.indices)});
  }
  std::string operator()(const Tuple& tuple) const { return list("tuple", {all(tuple.elements)}); }
  std::string operator()(const Range& range) const {
    return list("range", {(*this)(range.from), (*this)(range.to)});
  }
  std::string operator()(const Aggregation& aggregation) const {
    return list("fold", {aggregation.monoid, (*this)(aggregation.operand)});
  }
  std::string operator()(const std::shared_ptr<const Comprehension>& comprehension) const {
    std::vector<std::string> parts;
    if (const auto& storage = comprehension->storage)
      parts.push_back(
          list(storage->tiled ? "tiled" : "stored", {all(storage->dense), all(storage->sparse)}));
    parts.push_back((*this)(comprehension->head));
    for (const Qualifier& qualifier : comprehension->qualifiers)
      parts.push_back(std::visit(*this, qualifier.node));
    return list("comprehension", parts);
  }
  std::string operator()(const Pattern& pattern) const {
    return pattern.is_tuple ? list("pattern", {all(pattern.parts)}) : safe(pattern.variable);
  }
  std::string operator()(const Generator& generator) const {
    return list(generator.every ? "from-all" : "from",
                {(*this)(generator.pattern), (*this)(generator.domain)});
  }
  std::string operator()(const Let& let) const {
    return list("let", {(*this)(let.pattern), (*this)(let.value)});
  }
  std::string operator()(const Condition& condition) const {
    return list("if", {(*this)(condition.condition)});
  }
  std::string operator()(const GroupBy& group) const {
    return list("group", {(*this)(group.pattern), (*this)(group.key)});
  }
  std::string operator()(const Type& type) const {
    constexpr const char* names[] = {"int", "bigint", "float", "double", "bool", "text", "tensor"};
    if (type.kind != Type::Kind::tensor) return names[static_cast<int>(type.kind)];
    return list("tensor", {std::string(tessera::to_string(type.element)), sizes(type.shape)});
  }

  // Queries.
  std::string operator()(const Query& query) const {
    std::vector<std::string> parts;
    for (const CommonTable& table : query.with)
      parts.push_back(list("with", {safe(table.name), all(table.columns), (*this)(table.query)}));
    parts.push_back(std::visit(*this, query.body));
    for (const OrderItem& item : query.order_by)
      parts.push_back(
          list(item.descending ? "descending" : "ascending", {(*this)(item.expression)}));
    if (query.limit) parts.push_back(list("limit", {(*this)(query.limit)}));
    if (query.offset) parts.push_back(list("offset", {(*this)(query.offset)}));
    return parts.size() == 1 ? parts[0] : list("query", parts);
  }
  std::string operator()(const Select& select) const {
    std::vector<std::string> parts;
    for (const SelectItem& item : select.items)
      parts.push_back(item.alias.empty()
                          ? (*this)(item.expression)
                          : list("as", {(*this)(item.expression), safe(item.alias)}));
    for (const TableReference& table : select.from) parts.push_back((*this)(table));
    if (select.where) parts.push_back(list("where", {(*this)(select.where)}));
    if (!select.group_by.empty()) parts.push_back(list("group", {all(select.group_by)}));
    if (select.having) parts.push_back(list("having", {(*this)(select.having)}));
    return list(select.distinct ? "select-distinct" : "select", parts);
  }
  std::string operator()(const Values& values) const {
    std::vector<std::string> rows;
    for (const auto& row : values.rows) rows.push_back(all(row));
    return list("values", rows);
  }
  std::string operator()(const UnionOf& both) const {
    return list(both.all ? "union-all" : "union", {(*this)(both.left), (*this)(both.right)});
  }
  std::string operator()(const TableReference& table) const {
    std::vector<std::string> parts = {std::visit(*this, table.source)};
    if (!table.alias.empty())
      parts.push_back(list("as", {safe(table.alias), all(table.column_aliases)}));
    if (table.on) parts.push_back(list("on", {(*this)(table.on)}));
    return list("from", parts);
  }
  std::string operator()(const TableName& table) const {
    return table.indices.empty() ? safe(table.name)
                                 : list("version", {safe(table.name), all(table.indices)});
  }
  std::string operator()(const UnionOfVersions& versions) const {
    return list("versions", {safe(versions.name), all(versions.indices)});
  }
  std::string operator()(const Derived& derived) const { return (*this)(derived.query); }
  std::string operator()(const IndexRange& range) const {
    return range.variable.empty() && !range.to
               ? (*this)(range.from)
               : list("range", {safe(range.variable), (*this)(range.from), (*this)(range.to)});
  }
  std::string operator()(const IndexPattern& pattern) const {
    return list(pattern.unbounded ? "upwards" : "range",
                {safe(pattern.variable), (*this)(pattern.from), (*this)(pattern.to)});
  }

  // Statements.
  std::string operator()(const CreateTable& table) const {
    std::vector<std::string> columns;
    for (const ColumnDefinition& column : table.columns)
      columns.push_back(safe(column.name) + (column.type ? ":" + (*this)(*column.type) : ""));
    return list("create-table", {if_there(table.if_not_exists, table.or_replace), safe(table.name),
                                 all(table.indices), list("columns", columns),
                                 all(table.primary_key), (*this)(table.query)});
  }
  std::string operator()(const CreateTensor& tensor) const {
    if (tensor.program)
      return list(
          "create-program",
          {if_there(tensor.if_not_exists, tensor.or_replace), safe(tensor.name), all(tensor.others),
           tensor.tile ? sizes(*tensor.tile) : "-", all(tensor.program->steps)});
    return list(
        "create-tensor",
        {if_there(tensor.if_not_exists, tensor.or_replace), safe(tensor.name),
         tensor.shape ? sizes(*tensor.shape) : "-",
         tensor.element ? std::string(tessera::to_string(*tensor.element)) : "-",
         tensor.tile ? sizes(*tensor.tile) : "-",
         tensor.partition_by ? fmt::format("{}", *tensor.partition_by) : "-",
         tensor.is_virtual ? "virtual" : "-", tensor.file ? "'" + safe(*tensor.file) + "'" : "-",
         options(tensor.options), (*this)(tensor.expression)});
  }
  std::string operator()(const StepPtr& step) const { return std::visit(*this, step->node); }
  std::string operator()(const Variable& variable) const {
    return list("var", {safe(variable.name), all(variable.extents),
                        variable.element ? std::string(tessera::to_string(*variable.element)) : "-",
                        (*this)(variable.value)});
  }
  std::string operator()(const Definition& definition) const {
    return list("define", {safe(definition.name), (*this)(definition.value)});
  }
  std::string operator()(const Assignment& assignment) const {
    return list("assign", {safe(assignment.name), all(assignment.indices), safe(assignment.update),
                           (*this)(assignment.value)});
  }
  std::string operator()(const ForLoop& loop) const {
    return list("for-loop", {safe(loop.variable), (*this)(loop.from), (*this)(loop.to),
                             (*this)(loop.by), all(loop.body)});
  }
  std::string operator()(const WhileLoop& loop) const {
    return list("while", {(*this)(loop.condition), all(loop.body)});
  }
  std::string operator()(const Branch& branch) const {
    return list("branch", {(*this)(branch.condition), all(branch.yes), all(branch.no)});
  }
  std::string operator()(const CreateView& view) const {
    return list("create-view", {safe(view.name), all(view.columns), (*this)(view.query)});
  }
  std::string operator()(const Insert& insert) const {
    return list("insert", {safe(insert.table), all(insert.columns), (*this)(insert.query)});
  }
  std::string operator()(const Copy& copy) const {
    return list(copy.from ? "copy-from" : "copy-to",
                {safe(copy.table), (*this)(copy.query), safe(copy.file), options(copy.options)});
  }
  std::string operator()(const Drop& drop) const {
    return list("drop", {kind(drop.kind), drop.if_exists ? "if-exists" : "-", safe(drop.name)});
  }
  std::string operator()(const Rename& rename) const {
    return list("rename", {kind(rename.kind), safe(rename.from), safe(rename.to)});
  }
  std::string operator()(const Describe& describe) const {
    return list("describe", {safe(describe.name)});
  }
  std::string operator()(const Show& show) const { return list("show", {show.what}); }
  std::string operator()(const DropJob& drop) const {
    return list("drop-job", {drop.if_exists ? "if-exists" : "-", safe(drop.name)});
  }
  std::string operator()(const Set& set) const {
    return list("set", {safe(set.name), (*this)(set.value)});
  }
  std::string operator()(const Checkpoint&) const { return "(checkpoint)"; }
  std::string operator()(const Vacuum&) const { return "(vacuum)"; }
  std::string operator()(const Materialize& materialize) const {
    return list("materialize", {(*this)(materialize.table)});
  }
  std::string operator()(const std::shared_ptr<const Loop>& loop) const {
    return list("for",
                {safe(loop->variable), (*this)(loop->from), (*this)(loop->to), items(loop->body)});
  }
  std::string operator()(const Execute& execute) const {
    return list("execute", {items(execute.items)});
  }
  std::string operator()(const Explain& explain) const {
    return list(explain.analyze ? "explain-analyze" : "explain",
                {options(explain.options), tree(*explain.statement)});
  }

 private:
  static std::string list(const std::string& head, const std::vector<std::string>& parts) {
    return fmt::format("({}{}{})", head, parts.empty() ? "" : " ", fmt::join(parts, " "));
  }
  template <class Part>
  std::string all(const std::vector<Part>& parts) const {
    std::vector<std::string> texts;
    for (const Part& part : parts) {
      if constexpr (std::is_same_v<Part, std::string>)
        texts.push_back(safe(part));
      else
        texts.push_back((*this)(part));
    }
    return fmt::format("[{}]", fmt::join(texts, " "));
  }
  std::string items(const std::vector<ExecuteItem>& items) const {
    std::vector<std::string> texts;
    for (const ExecuteItem& item : items) texts.push_back(std::visit(*this, item));
    return fmt::format("[{}]", fmt::join(texts, " "));
  }
  std::string options(const Options& options) const {
    std::vector<std::string> texts;
    for (const auto& [name, value] : options) texts.push_back(list(safe(name), {(*this)(value)}));
    return fmt::format("[{}]", fmt::join(texts, " "));
  }
  static std::string sizes(const Shape& shape) {
    return fmt::format("[{}]", fmt::join(shape.begin(), shape.end(), " "));
  }
  static std::string kind(ObjectKind kind) {
    return kind == ObjectKind::table ? "table" : kind == ObjectKind::tensor ? "tensor" : "view";
  }
  static std::string if_there(bool if_not_exists, bool or_replace) {
    return if_not_exists ? "if-not-exists" : or_replace ? "or-replace" : "-";
  }
};

}  // namespace

std::string tree(const Expression& expression) { return std::visit(Lister{}, expression.node); }
std::string tree(const Query& query) { return Lister{}(query); }
std::string tree(const Statement& statement) { return std::visit(Lister{}, statement.node); }

}  // namespace tessera::sql
