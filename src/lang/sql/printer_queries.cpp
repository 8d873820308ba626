#include "lang/sql/printer.h"
#include "lang/sql/printing.h"

namespace tessera::sql {
namespace {

bool is_bare(const Query& query) {
  return query.with.empty() && query.order_by.empty() && !query.limit && !query.offset;
}

/// Whether a table of a list begins with two parentheses, which VALUES before it would take for a
/// row of theirs.
bool begins_like_row(const TableReference& table) {
  const auto* derived = std::get_if<Derived>(&table.source);
  if (derived == nullptr || table.on || !derived->query->with.empty()) return false;
  const Query* query = derived->query.get();
  while (const auto* both = std::get_if<UnionOf>(&query->body)) {
    query = both->left.get();
    if (!is_bare(*query)) return true;
  }
  return false;
}

bool is_unbounded(const IndexRange&) { return false; }
bool is_unbounded(const IndexPattern& pattern) { return pattern.unbounded; }

}  // namespace

std::string to_string(const Query& query) {
  Printer printer;
  printer.print(query);
  return printer.take();
}

void Printer::print(const Query& query) {
  if (!query.with.empty()) {
    add("WITH ");
    add_list(query.with, [&](const CommonTable& table) {
      add_name(table.name);
      if (!table.columns.empty()) add_names(table.columns);
      add(" AS (");
      print(*table.query);
      add(")");
    });
    add(" ");
  }
  std::visit([&](const auto& body) { form(body); }, query.body);
  if (!query.order_by.empty()) {
    add(" ORDER BY ");
    add_list(query.order_by, [&](const OrderItem& item) {
      print(*item.expression);
      if (item.descending) add(" DESC");
    });
  }
  if (query.limit) {
    add(" LIMIT ");
    print(*query.limit);
  }
  if (query.offset) {
    add(" OFFSET ");
    print(*query.offset);
  }
}

void Printer::form(const Select& select) {
  add(select.distinct ? "SELECT DISTINCT " : "SELECT ");
  add_list(select.items, [&](const SelectItem& item) {
    print(*item.expression);
    if (item.alias.empty()) return;
    add(" AS ");
    add_name(item.alias);
  });
  for (std::size_t i = 0; i < select.from.size(); ++i) {
    const TableReference& table = select.from[i];
    add(i == 0 ? " FROM " : table.on ? " JOIN " : ", ");
    print(table, i + 1 < select.from.size() && begins_like_row(select.from[i + 1]));
  }
  if (select.where) {
    add(" WHERE ");
    print(*select.where);
  }
  if (!select.group_by.empty()) {
    add(" GROUP BY ");
    add_list(select.group_by, [&](const ExpressionPtr& key) { print(*key); });
  }
  if (select.having) {
    add(" HAVING ");
    print(*select.having);
  }
}

void Printer::form(const Values& values) {
  add("VALUES ");
  add_list(values.rows, [&](const std::vector<ExpressionPtr>& row) {
    add("(");
    add_list(row, [&](const ExpressionPtr& value) { print(*value); });
    add(")");
  });
}

void Printer::form(const UnionOf& both) {
  print_part_of_union(*both.left, true);
  add(both.all ? " UNION ALL " : " UNION ");
  print_part_of_union(*both.right, false);
}

void Printer::print_part_of_union(const Query& query, bool may_be_union) {
  const bool parentheses =
      !is_bare(query) || (!may_be_union && std::holds_alternative<UnionOf>(query.body));
  if (parentheses) add("(");
  print(query);
  if (parentheses) add(")");
}

void Printer::print(const TableReference& table, bool row_may_follow) {
  if (const auto* name = std::get_if<TableName>(&table.source)) print(*name);
  if (const auto* versions = std::get_if<UnionOfVersions>(&table.source)) {
    add("UNION ");
    add_name(versions->name);
    print_indices(versions->indices);
  }
  if (const auto* derived = std::get_if<Derived>(&table.source)) {
    const Query& query = *derived->query;
    const bool parentheses = !is_bare(query) || !std::holds_alternative<Values>(query.body) ||
                             (table.alias.empty() && row_may_follow);
    if (parentheses) add("(");
    print(query);
    if (parentheses) add(")");
  }
  if (!table.alias.empty()) {
    add(" AS ");
    add_name(table.alias);
    if (!table.column_aliases.empty()) add_names(table.column_aliases);
  }
  if (table.on) {
    add(" ON ");
    print(*table.on);
  }
}

void Printer::print(const TableName& table) {
  add_name(table.name);
  print_indices(table.indices);
}

template <class Index>
void Printer::print_indices(const std::vector<Index>& indices) {
  for (const Index& index : indices) {
    add("[");
    if (!index.variable.empty()) {
      add_name(index.variable);
      add(":");
    }
    print(*index.from);
    if (index.to || is_unbounded(index)) add("...");
    if (index.to) print(*index.to);
    add("]");
  }
}
template void Printer::print_indices(const std::vector<IndexRange>&);
template void Printer::print_indices(const std::vector<IndexPattern>&);

}  // namespace tessera::sql
