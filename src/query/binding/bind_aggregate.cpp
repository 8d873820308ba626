#include "query/binding/bind_aggregate.h"

#include <algorithm>

namespace tessera::query {
namespace {

using lang::fail_type;

/// The value to be folded: sums of truth values count them.
ExpressionPtr summable(const ExpressionPtr& argument, Location location) {
  const TileType type = tile_type(argument->type);
  if (type.dtype != DType::boolean) return argument;
  const KernelCall cast("cast", {{"dtype", std::string("i64")}});
  return make(KernelOf{cast, {argument}}, sql_type({DType::i64, type.shape}), location);
}

}  // namespace

std::vector<sql::ExpressionPtr> parts_of(const sql::Expression& expression) {
  struct Parts {
    using List = std::vector<sql::ExpressionPtr>;
    List operator()(const sql::Literal&) const { return {}; }
    List operator()(const sql::Name&) const { return {}; }
    List operator()(const sql::Star&) const { return {}; }
    List operator()(const sql::Unary& e) const { return {e.operand}; }
    List operator()(const sql::Binary& e) const { return {e.left, e.right}; }
    List operator()(const sql::Call& e) const { return e.arguments; }
    List operator()(const sql::Case& e) const {
      List all;
      if (e.operand) all.push_back(e.operand);
      for (const auto& [when, then] : e.branches) all.insert(all.end(), {when, then});
      if (e.otherwise) all.push_back(e.otherwise);
      return all;
    }
    List operator()(const sql::Cast& e) const { return {e.operand}; }
    List operator()(const sql::InList& e) const {
      List all = e.options;
      all.push_back(e.operand);
      return all;
    }
    List operator()(const sql::Between& e) const { return {e.operand, e.low, e.high}; }
    List operator()(const sql::IsNull& e) const { return {e.operand}; }
    List operator()(const sql::ScalarSubquery&) const { return {}; }
    List operator()(const sql::ArrayLiteral& e) const { return e.elements; }
    List operator()(const sql::Transposed& e) const { return {e.operand}; }
    List operator()(const sql::Versioned& e) const { return e.indices; }
    List operator()(const sql::Slice& e) const {
      List all;
      for (const sql::ExpressionPtr& part : {e.from, e.to, e.step})
        if (part != nullptr) all.push_back(part);
      return all;
    }
    List operator()(const sql::Indexed& e) const {
      List all = e.indices;
      all.insert(all.begin(), e.operand);
      return all;
    }
    List operator()(const sql::Tuple& e) const { return e.elements; }
    List operator()(const sql::Range& e) const { return {e.from, e.to}; }
    List operator()(const sql::Aggregation& e) const { return {e.operand}; }
    List operator()(const std::shared_ptr<const sql::Comprehension>& e) const {
      List all{e->head};
      if (e->storage)
        for (const auto* extents : {&e->storage->dense, &e->storage->sparse})
          all.insert(all.end(), extents->begin(), extents->end());
      for (const sql::Qualifier& qualifier : e->qualifiers) {
        if (const auto* generator = std::get_if<sql::Generator>(&qualifier.node))
          all.push_back(generator->domain);
        if (const auto* let = std::get_if<sql::Let>(&qualifier.node)) all.push_back(let->value);
        if (const auto* condition = std::get_if<sql::Condition>(&qualifier.node))
          all.push_back(condition->condition);
        if (const auto* group = std::get_if<sql::GroupBy>(&qualifier.node); group && group->key)
          all.push_back(group->key);
      }
      return all;
    }
  };
  return std::visit(Parts{}, expression.node);
}

bool has_aggregate(const sql::Expression& expression) {
  if (const auto* call = std::get_if<sql::Call>(&expression.node))
    if (aggregate_kind(*call)) return true;
  const auto parts = parts_of(expression);
  return std::any_of(parts.begin(), parts.end(),
                     [](const sql::ExpressionPtr& part) { return has_aggregate(*part); });
}

bool has_subquery(const sql::Expression& expression) {
  if (std::holds_alternative<sql::ScalarSubquery>(expression.node)) return true;
  const auto parts = parts_of(expression);
  return std::any_of(parts.begin(), parts.end(),
                     [](const sql::ExpressionPtr& part) { return has_subquery(*part); });
}

ExpressionPtr Grouping::bind(const sql::Expression& expression) {
  Scope groups = groups_;
  const Schema none;
  groups.columns = &none;
  groups.special = [this](const sql::Expression& part) { return special(part); };
  return query::bind(expression, groups);
}

ExpressionPtr Grouping::special(const sql::Expression& part) {
  if (const auto* call = std::get_if<sql::Call>(&part.node))
    if (aggregate_kind(*call)) return aggregate(*call, part.location);
  if (has_aggregate(part) || has_subquery(part) || std::holds_alternative<sql::Literal>(part.node))
    return nullptr;
  const ExpressionPtr over_rows = query::bind(part, rows_);
  for (std::size_t g = 0; g < group_by_.size(); ++g)
    if (same(*group_by_[g], *over_rows))
      return column_of(static_cast<int>(g), over_rows->type, part.location);
  if (columns_in(*over_rows).empty()) return over_rows;
  if (const auto* name = std::get_if<sql::Name>(&part.node))
    fail_type(part.location,
              "column \"{}{}{}\" must appear in GROUP BY or be used in an aggregate function",
              name->table, name->table.empty() ? "" : ".", name->column);
  return nullptr;
}

ExpressionPtr Grouping::fold(Fold fold, const Type& type, Location location) {
  const auto equal = [&](const Fold& other) {
    const bool alike = fold.kind == other.kind && fold.kernel == other.kernel &&
                       fold.distinct == other.distinct && !fold.argument == !other.argument;
    return alike && (!fold.argument || same(*fold.argument, *other.argument));
  };
  const auto found = std::find_if(folds_.begin(), folds_.end(), equal);
  const auto position = found - folds_.begin();
  if (found == folds_.end()) {
    fold.location = location;
    folds_.push_back(std::move(fold));
    types_.push_back(type);
  }
  return column_of(static_cast<int>(group_by_.size()) + static_cast<int>(position), type, location);
}

ExpressionPtr Grouping::aggregate(const sql::Call& call, Location location) {
  if (same_name(call.name, "count")) {
    if (call.star) return fold({Fold::Kind::count}, bigint_type, location);
    if (call.arguments.size() != 1) fail_type(location, "COUNT takes * or exactly one argument");
    return fold({Fold::Kind::count, {}, query::bind(*call.arguments[0], rows_), call.distinct},
                bigint_type, location);
  }
  const ExpressionPtr argument = query::bind(*call.arguments.at(0), rows_);
  const bool least = same_name(call.name, "min"), greatest = same_name(call.name, "max");
  if (is_text(argument->type)) {
    if (!least && !greatest)
      fail_type(location, "{} is not defined for {}", call.name,
                is_null(*argument) ? "NULL, which has no type" : "TEXT");
    return fold({least ? Fold::Kind::first : Fold::Kind::last, {}, argument, call.distinct},
                argument->type, location);
  }
  return lang::at_location(location, [&] {
    const auto by_kernel = [&](const KernelCall& kernel, const ExpressionPtr& of) {
      const TileType type = tile_type(of->type);
      const TileType result = kernel.infer(std::vector<TileType>{type, type}).at(0);
      if (!(result == type))
        fail_type(
            location,
            "{} of {} returns {}, but an aggregate function must return the type of its argument",
            call.name, sql::to_string(of->type), sql::to_string(sql_type(result)));
      return fold({Fold::Kind::kernel, kernel, of, call.distinct}, sql_type(type), location);
    };
    if (least || greatest) return by_kernel(KernelCall(least ? "minimum" : "maximum"), argument);
    if (same_name(call.name, "sum"))
      return by_kernel(KernelCall("add"), summable(argument, location));
    if (same_name(call.name, "avg")) {
      ExpressionPtr value = summable(argument, location);
      const TileType type = tile_type(value->type);
      const DType wide = type.dtype == DType::f32 ? DType::f32 : DType::f64;
      value = converted(value, sql_type({wide, type.shape}), location);
      const ExpressionPtr sum = by_kernel(KernelCall("add"), value);
      const ExpressionPtr count =
          fold({Fold::Kind::count, {}, argument, call.distinct}, bigint_type, location);
      const KernelCall cast("cast", {{"dtype", std::string(to_string(wide))}});
      return bind_operation(BinaryOperator::divide, sum,
                            make(KernelOf{cast, {count}}, sql_type({wide, {}}), location),
                            location);
    }
    const auto kernel = kernel_named(call.name);
    return by_kernel(KernelCall(kernel->kernel, kernel->params), argument);
  });
}

std::vector<ExpressionPtr> Grouping::needed() const {
  std::vector<ExpressionPtr> all = group_by_;
  for (const Fold& fold : folds_)
    if (fold.argument) all.push_back(fold.argument);
  return all;
}

Aggregate Grouping::over(const NodePtr& input) const {
  Aggregate aggregate{input, {}, folds_};
  int next = 0;
  for (const ExpressionPtr& group : group_by_)
    aggregate.group_by.push_back(column_of(next++, group->type, group->location));
  for (Fold& fold : aggregate.folds)
    if (fold.argument)
      fold.argument = column_of(next++, fold.argument->type, fold.argument->location);
  return aggregate;
}

Schema Grouping::schema(const Schema& rows) const {
  Schema schema;
  for (const ExpressionPtr& group : group_by_)
    schema.push_back({to_string(*group, rows), group->type});
  for (std::size_t f = 0; f < folds_.size(); ++f)
    schema.push_back({fmt::format("fold{}", f), types_[f]});
  return schema;
}

}  // namespace tessera::query
