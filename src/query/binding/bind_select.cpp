#include <algorithm>

#include "query/binding/bind_aggregate.h"
#include "query/binding/join_tree.h"
#include "query/binding/query_binder.h"

namespace tessera::query {
namespace {

using lang::fail_type;

struct Item {
  sql::ExpressionPtr expression;
  std::string name;
};

/// The items of a SELECT, with * replaced by the columns it stands for.
std::vector<Item> items_of(const sql::Select& select, const Schema& columns) {
  std::vector<Item> items;
  for (const sql::SelectItem& item : select.items) {
    const auto* star = std::get_if<sql::Star>(&item.expression->node);
    if (star == nullptr) {
      items.push_back({item.expression, column_name(item, items.size())});
      continue;
    }
    const std::size_t before = items.size();
    for (const Column& column : columns)
      if (star->table.empty() || same_name(star->table, column.table))
        items.push_back({std::make_shared<const sql::Expression>(sql::Expression{
                             sql::Name{column.table, column.name}, item.expression->location}),
                         column.name});
    if (items.size() == before)
      fail_type(item.expression->location, "{}* matches no columns",
                star->table.empty() ? "" : star->table + ".");
  }
  return items;
}

/// The value of a subquery is one more table, of one row, whose column has no name.
NodePtr only_value(QueryBinder& queries, const sql::ScalarSubquery& subquery,
                   const CommonTables& tables, Location at) {
  const NodePtr node = queries.query(*subquery.query, tables);
  if (node->schema.size() != 1)
    fail_type(at, "subquery must return only one column, but returns {}", node->schema.size());
  Schema hidden = node->schema;
  hidden[0].table = hidden[0].name = "";
  return make_node(OnlyRow{node, at}, hidden);
}

/// The number of a GROUP BY or ORDER BY that means a column of the result, as in ORDER BY 2.
std::optional<std::int64_t> number_of_column(const sql::Expression& written) {
  const auto* literal = std::get_if<sql::Literal>(&written.node);
  const auto* number = literal != nullptr ? std::get_if<std::int64_t>(&literal->value) : nullptr;
  return number != nullptr ? std::optional(*number) : std::nullopt;
}

/// A name without that of a table; null if the expression is anything else.
const std::string* bare_name(const sql::Expression& written) {
  const auto* name = std::get_if<sql::Name>(&written.node);
  return name != nullptr && name->table.empty() ? &name->column : nullptr;
}

/// One SELECT, clause by clause in the order in which they mean something.
class SelectBinder {
 public:
  SelectBinder(QueryBinder& queries, const sql::Select& select, const CommonTables& tables,
               const std::vector<std::string>& parameters)
      : queries_(queries), select_(select), tables_(tables), parameters_(parameters) {
    scope_.columns = &columns_;
    scope_.parameters = &parameters_;
    scope_.subquery = [this](const sql::ScalarSubquery& subquery, Location at) {
      add_source(only_value(queries_, subquery, tables_, at));
      return column_of(static_cast<int>(columns_.size()) - 1, columns_.back().type, at);
    };
  }
  SelectBinder(const SelectBinder&) = delete;  // scopes refer to it

  NodePtr bind(const std::vector<sql::OrderItem>& order_by) {
    from();
    visible_ = columns_;
    scope_.no_aggregates =
        "aggregate functions are not allowed in WHERE; use HAVING for conditions on groups";
    add_condition(select_.where, "WHERE");
    items_ = items_of(select_, visible_);
    grouped_ = is_grouped(order_by);
    scope_.no_aggregates =
        "aggregate functions are not allowed inside aggregate functions or in GROUP BY";
    group();
    for (const Item& item : items_) {
      outputs_.push_back(bind_item(*item.expression));
      schema_.push_back({item.name, outputs_.back()->type});
    }
    for (const sql::OrderItem& item : order_by) order(item);
    having();
    return finished(grouped_ ? groups() : join_tree(sources_, conditions_, outputs_, schema_));
  }

 private:
  void add_source(const NodePtr& node) {
    sources_.push_back(node);
    columns_.insert(columns_.end(), node->schema.begin(), node->schema.end());
  }

  void add_condition(const sql::ExpressionPtr& written, std::string_view clause) {
    if (!written) return;
    for (const ExpressionPtr& part : conjuncts(bind_condition(*written, scope_, clause)))
      conditions_.push_back(part);
  }

  void from() {
    for (const sql::TableReference& reference : select_.from) {
      refuse_second(reference);
      add_source(queries_.table(reference, tables_));
      add_condition(reference.on, "ON");
    }
    if (select_.from.empty()) add_source(make_node(ConstantRows{{{}}}, {}));
  }

  void refuse_second(const sql::TableReference& reference) const {
    const auto* named = std::get_if<sql::TableName>(&reference.source);
    const std::string alias = !reference.alias.empty() ? reference.alias
                              : named != nullptr       ? named->name
                                                       : std::string();
    for (const Column& column : columns_)
      if (!alias.empty() && same_name(alias, column.table))
        fail_type(reference.location,
                  "table name \"{}\" specified more than once; give one of them an alias", alias);
  }

  bool is_grouped(const std::vector<sql::OrderItem>& order_by) const {
    const auto aggregates = [](const auto& item) { return has_aggregate(*item.expression); };
    return !select_.group_by.empty() || select_.having ||
           std::any_of(items_.begin(), items_.end(), aggregates) ||
           std::any_of(order_by.begin(), order_by.end(), aggregates);
  }

  /// What an item of GROUP BY means: a column of the result by its number, or by its name where no
  /// table has a column of that name, or what it says.
  sql::ExpressionPtr meant_by(const sql::ExpressionPtr& written) const {
    sql::ExpressionPtr meant = written;
    if (const auto number = number_of_column(*written)) {
      if (*number < 1 || std::cmp_greater(*number, items_.size()))
        fail_type(written->location, "GROUP BY position {} is out of range; expected 1 to {}",
                  *number, items_.size());
      meant = items_[static_cast<std::size_t>(*number) - 1].expression;
    }
    if (const std::string* name = bare_name(*written)) {
      const bool is_column =
          std::any_of(visible_.begin(), visible_.end(),
                      [&](const Column& column) { return same_name(column.name, *name); });
      for (const Item& item : items_)
        if (!is_column && same_name(item.name, *name)) meant = item.expression;
    }
    return meant;
  }

  void group() {
    std::vector<ExpressionPtr> group_by;
    for (const sql::ExpressionPtr& written : select_.group_by)
      group_by.push_back(query::bind(*meant_by(written), scope_));
    // A subquery outside the aggregates is joined to the groups, whose number of columns is not
    // known yet: those of subqueries are numbered far above.
    Scope of_groups = scope_;
    of_groups.subquery = [this](const sql::ScalarSubquery& subquery, Location at) {
      beside_.push_back(only_value(queries_, subquery, tables_, at));
      return column_of(first_beside + static_cast<int>(beside_.size()) - 1,
                       beside_.back()->schema[0].type, at);
    };
    grouping_.emplace(scope_, of_groups, group_by);
  }

  ExpressionPtr bind_item(const sql::Expression& written) {
    return grouped_ ? grouping_->bind(written) : query::bind(written, scope_);
  }

  /// By name or number it is a column of the result; anything else is computed beside them.
  void order(const sql::OrderItem& item) {
    const std::size_t shown = items_.size();
    const Schema result(schema_.begin(), schema_.begin() + static_cast<std::ptrdiff_t>(shown));
    const std::string* name = bare_name(*item.expression);
    const bool is_named =
        name != nullptr && std::count_if(result.begin(), result.end(), [&](const Column& column) {
                             return same_name(column.name, *name);
                           }) == 1;
    if (is_named || number_of_column(*item.expression)) {
      keys_.push_back({column_of_result(*item.expression, result, parameters_), item.descending});
      return;
    }
    const ExpressionPtr key = bind_item(*item.expression);
    auto known = std::find_if(outputs_.begin(), outputs_.end(),
                              [&](const ExpressionPtr& output) { return same(*output, *key); });
    if (known == outputs_.end()) {
      if (select_.distinct)
        fail_type(item.expression->location,
                  "for SELECT DISTINCT, ORDER BY expressions must appear in the select list");
      outputs_.push_back(key);
      schema_.push_back({"", key->type});
      known = outputs_.end() - 1;
    }
    keys_.push_back(
        {column_of(static_cast<int>(known - outputs_.begin()), key->type), item.descending});
  }

  void having() {
    if (!select_.having) return;
    having_ = grouping_->bind(*select_.having);
    if (!is_boolean(having_->type))
      fail_type(select_.having->location, "argument of HAVING must be BOOLEAN, not {}",
                sql::to_string(having_->type));
  }

  NodePtr groups() {
    const std::vector<ExpressionPtr> needed = grouping_->needed();
    Schema rows;
    for (const ExpressionPtr& one : needed) rows.push_back({to_string(*one, columns_), one->type});
    NodePtr node = join_tree(sources_, conditions_, needed, rows);
    node = make_node(grouping_->over(node), grouping_->schema(columns_));
    node = with_values_beside(node);
    if (having_) node = make_node(Filter{node, having_}, node->schema);
    return make_node(Project{node, outputs_}, schema_);
  }

  /// The groups with the values of subqueries, whose columns now get their numbers.
  NodePtr with_values_beside(NodePtr node) {
    if (beside_.empty()) return node;
    const std::size_t groups = node->schema.size();
    for (const NodePtr& value : beside_) {
      Schema schema = node->schema;
      schema.push_back(value->schema[0]);
      std::vector<ExpressionPtr> all;
      for (std::size_t c = 0; c < schema.size(); ++c)
        all.push_back(column_of(static_cast<int>(c), schema[c].type));
      node = make_node(Join{node, value, nullptr, std::move(all)}, std::move(schema));
    }
    std::vector<int> numbers(first_beside + beside_.size());
    for (std::size_t c = 0; c < groups; ++c) numbers[c] = static_cast<int>(c);
    for (std::size_t c = 0; c < beside_.size(); ++c)
      numbers[first_beside + c] = static_cast<int>(groups + c);
    for (ExpressionPtr& output : outputs_) output = renumber(output, numbers);
    if (having_) having_ = renumber(having_, numbers);
    return node;
  }

  /// DISTINCT and ORDER BY, and without what only these read.
  NodePtr finished(NodePtr node) {
    if (select_.distinct) node = make_node(Distinct{node}, node->schema);
    if (!keys_.empty()) node = make_node(Sort{node, std::move(keys_)}, node->schema);
    if (outputs_.size() == items_.size()) return node;
    std::vector<ExpressionPtr> kept;
    for (std::size_t c = 0; c < items_.size(); ++c)
      kept.push_back(column_of(static_cast<int>(c), schema_[c].type));
    schema_.resize(items_.size());
    return make_node(Project{node, std::move(kept)}, schema_);
  }

  static constexpr int first_beside = 1 << 20;

  QueryBinder& queries_;
  const sql::Select& select_;
  const CommonTables& tables_;
  const std::vector<std::string>& parameters_;
  std::vector<NodePtr> sources_;
  Schema columns_;  // of all sources
  Schema visible_;  // of those in FROM
  Scope scope_;     // of the rows
  std::vector<ExpressionPtr> conditions_;
  std::vector<Item> items_;
  bool grouped_ = false;
  std::optional<Grouping> grouping_;
  std::vector<NodePtr> beside_;         // values of subqueries that read groups
  std::vector<ExpressionPtr> outputs_;  // the items, and then what the order needs besides
  Schema schema_;                       // of the outputs
  std::vector<SortKey> keys_;
  ExpressionPtr having_;
};

}  // namespace

std::string column_name(const sql::SelectItem& item, std::size_t position) {
  if (!item.alias.empty()) return item.alias;
  if (const auto* name = std::get_if<sql::Name>(&item.expression->node)) return name->column;
  if (const auto* call = std::get_if<sql::Call>(&item.expression->node)) return call->name;
  return fmt::format("column{}", position + 1);
}

NodePtr QueryBinder::select(const sql::Select& select, const std::vector<sql::OrderItem>& order_by,
                            const CommonTables& tables) {
  return SelectBinder(*this, select, tables, options_.parameters).bind(order_by);
}

}  // namespace tessera::query
