#include <algorithm>
#include <map>

#include "query/bind_aggregate.h"
#include "query/join_tree.h"

namespace tessera::query {
namespace {

using lang::fail_type;

/// The tables of WITH clauses that can be seen, the innermost last. Each is bound once: what reads
/// it several times shares it.
using CommonTables = std::vector<std::pair<std::string, NodePtr>>;

NodePtr renamed(const NodePtr& node, const std::string& table,
                const std::vector<std::string>& columns, Place place) {
  if (columns.size() > node->schema.size())
    fail_type(place, "{} names for the {} columns of {}", columns.size(), node->schema.size(),
              table.empty() ? "a query" : table);
  Schema schema = node->schema;
  std::vector<ExpressionPtr> same_columns;
  for (std::size_t c = 0; c < schema.size(); ++c) {
    same_columns.push_back(column_of(static_cast<int>(c), schema[c].type));
    schema[c].table = table;
    if (c < columns.size()) schema[c].name = columns[c];
  }
  // A table of its own is just called differently; the result of a query is projected.
  if (std::holds_alternative<Scan>(node->op)) return make_node(node->op, std::move(schema));
  return make_node(Project{node, std::move(same_columns)}, std::move(schema));
}

class QueryBinder {
 public:
  QueryBinder(Resolver& resolver, const BinderOptions& options)
      : resolver_(resolver), options_(options) {}

  NodePtr query(const sql::Query& query, CommonTables tables) {
    for (const sql::CommonTable& table : query.with) {
      const NodePtr node = this->query(*table.query, tables);
      tables.emplace_back(table.name, renamed(node, table.name, table.columns, table.place));
    }
    if (const auto* select = std::get_if<sql::Select>(&query.body))
      return limited(query, this->select(*select, query.order_by, tables, query.place));
    NodePtr node = std::holds_alternative<sql::Values>(query.body)
                       ? values(std::get<sql::Values>(query.body), query.place)
                       : united(std::get<sql::UnionOf>(query.body), tables, query.place);
    if (!query.order_by.empty()) {
      std::vector<SortKey> keys;
      for (const sql::OrderItem& item : query.order_by)
        keys.push_back({output(*item.expression, node->schema), item.descending});
      node = make_node(Sort{node, std::move(keys)}, node->schema);
    }
    return limited(query, node);
  }

 private:
  NodePtr limited(const sql::Query& query, NodePtr node) {
    if (!query.limit && !query.offset) return node;
    const auto count = [&](const sql::ExpressionPtr& written) -> ExpressionPtr {
      if (!written) return nullptr;
      const ExpressionPtr bound = bind_constant(*written, options_.parameters);
      const auto* constant = std::get_if<Constant>(&bound->node);
      const bool null = constant != nullptr && constant->value.is_null();
      if (!is_integer(bound->type) && !null)
        fail_type(written->place, "a number of rows is an integer, and this is {}",
                  sql::to_string(bound->type));
      return bound;
    };
    return make_node(Limit{node, count(query.limit), count(query.offset)}, node->schema);
  }

  /// A column of the result by its name or its number, counted from 1.
  ExpressionPtr output(const sql::Expression& written, const Schema& schema) const {
    if (const auto* literal = std::get_if<sql::Literal>(&written.node))
      if (const auto* number = std::get_if<std::int64_t>(&literal->value)) {
        if (*number < 1 || std::cmp_greater(*number, schema.size()))
          fail_type(written.place, "there is no column {}: the result has {}", *number,
                    schema.size());
        const int column = static_cast<int>(*number) - 1;
        return column_of(column, schema[column].type, written.place);
      }
    return bind(written, Scope{&schema, &options_.parameters});
  }

  NodePtr values(const sql::Values& written, Place place) {
    const Scope scope{nullptr, &options_.parameters};
    std::vector<std::vector<ExpressionPtr>> rows;
    for (const auto& row : written.rows) {
      if (row.size() != written.rows.front().size())
        fail_type(row.empty() ? place : row.front()->place, "a row of {} values after rows of {}",
                  row.size(), written.rows.front().size());
      rows.emplace_back();
      for (const sql::ExpressionPtr& value : row) rows.back().push_back(bind(*value, scope));
    }
    Schema schema;
    const std::size_t columns = rows.front().size();
    const bool named = options_.target_columns.size() == columns;
    for (std::size_t c = 0; c < columns; ++c) {
      std::vector<ExpressionPtr> column;
      for (const auto& row : rows) column.push_back(row[c]);
      const Type type = common_type(column, place, "the values of a column");
      for (auto& row : rows) row[c] = converted(row[c], type, row[c]->place);
      schema.push_back({named ? options_.target_columns[c] : fmt::format("column{}", c + 1), type});
    }
    return make_node(ConstantRows{std::move(rows)}, std::move(schema));
  }

  NodePtr united(const sql::UnionOf& written, const CommonTables& tables, Place place) {
    std::vector<NodePtr> inputs{query(*written.left, tables), query(*written.right, tables)};
    NodePtr all = union_of(inputs, written.right->place.offset > 0 ? written.right->place : place);
    return written.all ? all : make_node(Distinct{all}, all->schema);
  }

  /// Rows of several tables, their columns brought to common types.
  static NodePtr union_of(std::vector<NodePtr> inputs, Place place) {
    Schema schema = inputs.front()->schema;
    for (const NodePtr& input : inputs)
      if (input->schema.size() != schema.size())
        fail_type(place, "a UNION of {} and {} columns", schema.size(), input->schema.size());
    for (std::size_t c = 0; c < schema.size(); ++c) {
      std::vector<ExpressionPtr> column;
      for (const NodePtr& input : inputs)
        column.push_back(column_of(static_cast<int>(c), input->schema[c].type, place));
      schema[c].type =
          common_type(column, place, fmt::format("column {} of the parts of a UNION", c + 1));
    }
    for (NodePtr& input : inputs) {
      std::vector<ExpressionPtr> outputs;
      bool differs = false;
      for (std::size_t c = 0; c < schema.size(); ++c) {
        const ExpressionPtr column = column_of(static_cast<int>(c), input->schema[c].type, place);
        const bool alike = tile_type(column->type).dtype == tile_type(schema[c].type).dtype;
        differs = differs || !alike;
        outputs.push_back(alike ? column : converted(column, schema[c].type, place));
      }
      if (differs) input = make_node(Project{input, std::move(outputs)}, schema);
    }
    return inputs.size() == 1 ? inputs[0] : make_node(UnionAll{std::move(inputs)}, schema);
  }

  NodePtr table(const sql::TableReference& reference, const CommonTables& tables) {
    const Place place = reference.place;
    if (const auto* derived = std::get_if<sql::Derived>(&reference.source))
      return renamed(query(*derived->query, tables), reference.alias, reference.column_aliases,
                     place);
    const auto* named = std::get_if<sql::TableName>(&reference.source);
    const std::string& name =
        named != nullptr ? named->name : std::get<sql::UnionOfVersions>(reference.source).name;
    const std::string& alias = reference.alias.empty() ? name : reference.alias;
    if (named != nullptr && named->indices.empty()) {
      for (auto common = tables.rbegin(); common != tables.rend(); ++common)
        if (same_name(common->first, name))
          return renamed(common->second, alias, reference.column_aliases, place);
      if (const auto view = resolver_.view(name)) {
        if (++views_ > 100)
          fail_type(place, "views that read each other more than 100 deep: {} is among them", name);
        const NodePtr node = lang::in_other_text(
            name, place, [&] { return QueryBinder(*this).query(*view->query, {}); });
        --views_;
        return renamed(renamed(node, name, view->columns, place), alias, reference.column_aliases,
                       place);
      }
    }
    const std::vector<Source> sources =
        lang::at_place(place, [&] { return resolver_.tables(reference); });
    std::vector<NodePtr> scans;
    for (const Source& source : sources) {
      Schema schema = source.schema;
      for (Column& column : schema) column.table = name;
      scans.push_back(make_node(Scan{source.input}, std::move(schema)));
    }
    return renamed(union_of(std::move(scans), place), alias, reference.column_aliases, place);
  }

  struct Item {
    sql::ExpressionPtr expression;
    std::string name;
  };

  /// The items of a SELECT, with * replaced by the columns it stands for.
  static std::vector<Item> items_of(const sql::Select& select, const Schema& columns) {
    std::vector<Item> items;
    for (const sql::SelectItem& item : select.items) {
      const auto* star = std::get_if<sql::Star>(&item.expression->node);
      if (star == nullptr) {
        const auto* name = std::get_if<sql::Name>(&item.expression->node);
        const auto* call = std::get_if<sql::Call>(&item.expression->node);
        const std::string made = name != nullptr   ? name->column
                                 : call != nullptr ? call->name
                                                   : fmt::format("column{}", items.size() + 1);
        items.push_back({item.expression, item.alias.empty() ? made : item.alias});
        continue;
      }
      const std::size_t before = items.size();
      for (const Column& column : columns)
        if (star->table.empty() || same_name(star->table, column.table))
          items.push_back({std::make_shared<const sql::Expression>(sql::Expression{
                               sql::Name{column.table, column.name}, item.expression->place}),
                           column.name});
      if (items.size() == before)
        fail_type(item.expression->place, "{}* stands for no column",
                  star->table.empty() ? "" : star->table + ".");
    }
    return items;
  }

  NodePtr only_value(const sql::ScalarSubquery& subquery, const CommonTables& tables, Place at) {
    const NodePtr node = query(*subquery.query, tables);
    if (node->schema.size() != 1)
      fail_type(at, "a subquery that stands for a value has {} columns", node->schema.size());
    Schema hidden = node->schema;
    hidden[0].table = hidden[0].name = "";
    return make_node(OnlyRow{node, at}, hidden);
  }

  static constexpr int first_beside = 1 << 20;
  static NodePtr beside_groups(NodePtr node, const std::vector<NodePtr>& beside,
                               std::vector<ExpressionPtr>& outputs, ExpressionPtr& having) {
    const std::size_t groups = node->schema.size();
    for (const NodePtr& value : beside) {
      Schema schema = node->schema;
      schema.push_back(value->schema[0]);
      std::vector<ExpressionPtr> all;
      for (std::size_t c = 0; c < schema.size(); ++c)
        all.push_back(column_of(static_cast<int>(c), schema[c].type));
      node = make_node(Join{node, value, nullptr, std::move(all)}, std::move(schema));
    }
    if (beside.empty()) return node;
    std::vector<int> numbers(first_beside + beside.size());
    for (std::size_t c = 0; c < groups; ++c) numbers[c] = static_cast<int>(c);
    for (std::size_t c = 0; c < beside.size(); ++c)
      numbers[first_beside + c] = static_cast<int>(groups + c);
    for (ExpressionPtr& output : outputs) output = renumber(output, numbers);
    if (having) having = renumber(having, numbers);
    return node;
  }

  NodePtr select(const sql::Select& select, const std::vector<sql::OrderItem>& order_by,
                 const CommonTables& tables, Place place);

  Resolver& resolver_;
  const BinderOptions& options_;
  int views_ = 0;
};

NodePtr QueryBinder::select(const sql::Select& select, const std::vector<sql::OrderItem>& order_by,
                            const CommonTables& tables, Place place) {
  std::vector<NodePtr> sources;
  Schema columns;
  Scope scope{&columns, &options_.parameters};
  const auto add_source = [&](const NodePtr& node) {
    sources.push_back(node);
    columns.insert(columns.end(), node->schema.begin(), node->schema.end());
  };
  // The value of a subquery is one more table, of one row.
  scope.subquery = [&](const sql::ScalarSubquery& subquery, Place at) {
    add_source(only_value(subquery, tables, at));
    return column_of(static_cast<int>(columns.size()) - 1, columns.back().type, at);
  };

  std::vector<ExpressionPtr> conditions;
  const auto add_condition = [&](const sql::ExpressionPtr& written, std::string_view clause) {
    if (!written) return;
    for (const ExpressionPtr& part : conjuncts(bind_condition(*written, scope, clause)))
      conditions.push_back(part);
  };
  for (const sql::TableReference& reference : select.from) {
    for (const Column& column : columns) {
      const auto* named = std::get_if<sql::TableName>(&reference.source);
      const std::string alias = !reference.alias.empty() ? reference.alias
                                : named != nullptr       ? named->name
                                                         : std::string();
      if (!alias.empty() && same_name(alias, column.table))
        fail_type(reference.place, "two tables are called {} here: give one of them an alias",
                  alias);
    }
    add_source(table(reference, tables));
    add_condition(reference.on, "ON");
  }
  if (select.from.empty()) add_source(make_node(ConstantRows{{{}}}, {}));
  const Schema visible = columns;
  scope.no_aggregates = "there is no aggregate in WHERE; conditions on groups stand in HAVING";
  add_condition(select.where, "WHERE");

  const std::vector<Item> items = items_of(select, visible);
  const bool grouped =
      !select.group_by.empty() || select.having ||
      std::any_of(items.begin(), items.end(),
                  [](const Item& item) { return has_aggregate(*item.expression); }) ||
      std::any_of(order_by.begin(), order_by.end(),
                  [](const sql::OrderItem& item) { return has_aggregate(*item.expression); });
  scope.no_aggregates = "an aggregate inside an aggregate, or in GROUP BY, has no meaning";

  std::vector<ExpressionPtr> group_by;
  for (const sql::ExpressionPtr& written : select.group_by) {
    sql::ExpressionPtr meant = written;
    if (const auto* literal = std::get_if<sql::Literal>(&written->node))
      if (const auto* number = std::get_if<std::int64_t>(&literal->value)) {
        if (*number < 1 || std::cmp_greater(*number, items.size()))
          fail_type(written->place, "GROUP BY {}: the SELECT has {} columns", *number,
                    items.size());
        meant = items[static_cast<std::size_t>(*number) - 1].expression;
      }
    if (const auto* name = std::get_if<sql::Name>(&written->node);
        name != nullptr && name->table.empty()) {
      const bool is_column = std::any_of(visible.begin(), visible.end(), [&](const Column& column) {
        return same_name(column.name, name->column);
      });
      for (const Item& item : items)
        if (!is_column && same_name(item.name, name->column)) meant = item.expression;
    }
    group_by.push_back(bind(*meant, scope));
  }

  // A subquery outside the aggregates is joined to the groups, whose number of columns is not known
  // yet: those of subqueries are numbered far above.
  std::vector<NodePtr> beside;
  Scope of_groups = scope;
  of_groups.subquery = [&](const sql::ScalarSubquery& subquery, Place at) {
    beside.push_back(only_value(subquery, tables, at));
    return column_of(first_beside + static_cast<int>(beside.size()) - 1,
                     beside.back()->schema[0].type, at);
  };
  Grouping grouping(scope, of_groups, group_by);
  const auto bind_item = [&](const sql::Expression& written) {
    return grouped ? grouping.bind(written) : bind(written, scope);
  };
  std::vector<ExpressionPtr> outputs;
  Schema schema;
  for (const Item& item : items) {
    outputs.push_back(bind_item(*item.expression));
    schema.push_back({item.name, outputs.back()->type});
  }
  const std::size_t shown = outputs.size();
  std::vector<SortKey> keys;
  for (const sql::OrderItem& item : order_by) {
    // By name or number it is a column of the result; anything else is computed beside them.
    const auto* name = std::get_if<sql::Name>(&item.expression->node);
    const auto* literal = std::get_if<sql::Literal>(&item.expression->node);
    const bool of_result =
        (literal != nullptr && std::holds_alternative<std::int64_t>(literal->value)) ||
        (name != nullptr && name->table.empty() &&
         std::count_if(
             schema.begin(), schema.begin() + static_cast<std::ptrdiff_t>(shown),
             [&](const Column& column) { return same_name(column.name, name->column); }) == 1);
    if (of_result) {
      const Schema result(schema.begin(), schema.begin() + static_cast<std::ptrdiff_t>(shown));
      keys.push_back({output(*item.expression, result), item.descending});
      continue;
    }
    const ExpressionPtr key = bind_item(*item.expression);
    auto known = std::find_if(outputs.begin(), outputs.end(),
                              [&](const ExpressionPtr& output) { return same(*output, *key); });
    if (known == outputs.end()) {
      if (select.distinct)
        fail_type(item.expression->place,
                  "with DISTINCT, ORDER BY can only use columns of the result");
      outputs.push_back(key);
      schema.push_back({"", key->type});
      known = outputs.end() - 1;
    }
    keys.push_back(
        {column_of(static_cast<int>(known - outputs.begin()), key->type), item.descending});
  }
  ExpressionPtr having;
  if (select.having) {
    having = grouping.bind(*select.having);
    if (!is_boolean(having->type))
      fail_type(select.having->place, "HAVING wants a BOOLEAN, and this is {}",
                sql::to_string(having->type));
  }

  NodePtr node;
  if (!grouped) {
    node = join_tree(sources, conditions, outputs, schema);
  } else {
    const std::vector<ExpressionPtr> needed = grouping.needed();
    Schema rows;
    for (const ExpressionPtr& one : needed) rows.push_back({to_string(*one, columns), one->type});
    node = join_tree(sources, conditions, needed, rows);
    const Schema groups = grouping.schema(columns);
    node = make_node(grouping.over(node), groups);
    node = beside_groups(node, beside, outputs, having);
    if (having) node = make_node(Filter{node, having}, node->schema);
    node = make_node(Project{node, outputs}, schema);
  }
  if (select.distinct) node = make_node(Distinct{node}, node->schema);
  if (!keys.empty()) node = make_node(Sort{node, std::move(keys)}, node->schema);
  if (outputs.size() > shown) {
    std::vector<ExpressionPtr> kept;
    for (std::size_t c = 0; c < shown; ++c)
      kept.push_back(column_of(static_cast<int>(c), schema[c].type));
    schema.resize(shown);
    node = make_node(Project{node, std::move(kept)}, schema);
  }
  (void)place;
  return node;
}

}  // namespace

NodePtr bind(const sql::Query& query, Resolver& resolver, const BinderOptions& options) {
  return QueryBinder(resolver, options).query(query, {});
}

}  // namespace tessera::query
