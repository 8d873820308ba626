#include "query/binding/bind_expression.h"

#include <algorithm>

#include "base/check.h"
#include "base/names_text.h"
#include "query/rows/kernel_location.h"

namespace tessera::query {
namespace {

using lang::fail_type;

const Type text{Type::Kind::text};

ExpressionPtr literal(const sql::Literal& written, Location location) {
  struct Values {
    Location location;
    ExpressionPtr operator()(sql::Null) const { return make(Constant{}, text, location); }
    ExpressionPtr operator()(bool value) const {
      return make(Constant{Cell::of(value)}, boolean_type, location);
    }
    ExpressionPtr operator()(std::int64_t value) const {
      return make(Constant{Cell::of(value)}, bigint_type, location);
    }
    ExpressionPtr operator()(double value) const {
      return make(Constant{Cell::of(value)}, {Type::Kind::double_precision}, location);
    }
    ExpressionPtr operator()(const std::string& value) const {
      return make(Constant{Cell(value)}, text, location);
    }
    ExpressionPtr operator()(const Tile& value) const {
      return make(Constant{Cell(value)}, sql_type(value.type()), location);
    }
  };
  return std::visit(Values{location}, written.value);
}

std::string qualified(const sql::Name& name) {
  return name.table.empty() ? name.column : name.table + "." + name.column;
}

/// What a message says that has not found a column: names like it, or all there are.
std::string columns_instead_of(const sql::Name& written, const Schema& columns) {
  std::vector<std::string> names, qualified_names;
  for (const Column& column : columns) {
    if (written.table.empty() || same_name(column.table, written.table))
      names.push_back(column.name);
    qualified_names.push_back(column.table.empty() ? column.name
                                                   : column.table + "." + column.name);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return similar_names(written.column, names).empty() ? "available: " + names_text(qualified_names)
                                                      : instead_of(written.column, names);
}

ExpressionPtr name(const sql::Name& written, const Scope& scope, Location location) {
  int found = -1;
  for (std::size_t c = 0; scope.columns != nullptr && c < scope.columns->size(); ++c) {
    const Column& column = (*scope.columns)[c];
    if (!same_name(column.name, written.column)) continue;
    if (!written.table.empty() && !same_name(column.table, written.table)) continue;
    if (found >= 0)
      fail_type(location, "column reference \"{}\" is ambiguous; it could be {}.{} or {}.{}",
                qualified(written), (*scope.columns)[found].table, (*scope.columns)[found].name,
                column.table, column.name);
    found = static_cast<int>(c);
  }
  if (found >= 0) return column_of(found, (*scope.columns)[found].type, location);
  if (written.table.empty() && scope.parameters != nullptr)
    for (std::size_t p = 0; p < scope.parameters->size(); ++p)
      if (same_name((*scope.parameters)[p], written.column))
        return make(Parameter{static_cast<int>(p)}, bigint_type, location);
  fail_type(location, "column \"{}\" not found; {}", qualified(written),
            columns_instead_of(written, scope.columns == nullptr ? Schema{} : *scope.columns));
}

struct Binder {
  const sql::Expression& expression;
  const Scope& scope;
  Location location = expression.location;

  ExpressionPtr sub(const sql::ExpressionPtr& part) const { return bind(*part, scope); }

  ExpressionPtr operator()(const sql::Literal& e) const { return literal(e, location); }
  ExpressionPtr operator()(const sql::Name& e) const { return name(e, scope, location); }
  ExpressionPtr operator()(const sql::Star&) const {
    fail_type(location, "* is allowed only in the list of a SELECT and in COUNT(*)");
  }
  ExpressionPtr operator()(const sql::Unary& e) const {
    const ExpressionPtr operand = sub(e.operand);
    if (e.op == sql::UnaryOperator::logical_not) {
      if (!is_boolean(operand->type) && !is_null(*operand))
        fail_type(location, "argument of NOT must be BOOLEAN, not {}",
                  sql::to_string(operand->type));
      return folded(make(Negation{operand}, boolean_type, location));
    }
    if (is_null(*operand)) return operand;
    if (is_text(operand->type)) fail_type(location, "operator - is not defined for TEXT");
    return lang::at_location(location, [&] {
      const KernelCall kernel("neg");
      const TileType type = kernel.infer(std::vector<TileType>{tile_type(operand->type)}).at(0);
      return folded(make(KernelOf{kernel, {operand}}, sql_type(type), location));
    });
  }
  ExpressionPtr operator()(const sql::Binary& e) const {
    return bind_operation(e.op, sub(e.left), sub(e.right), location);
  }
  ExpressionPtr operator()(const sql::Call& e) const { return bind_call(e, scope, location); }

  ExpressionPtr operator()(const sql::Case& e) const {
    std::vector<ExpressionPtr> conditions, values;
    for (const auto& [when, then] : e.branches) {
      const ExpressionPtr condition =
          e.operand
              ? bind_operation(BinaryOperator::equal, sub(e.operand), sub(when), when->location)
              : bind_condition(*when, scope, "WHEN");
      conditions.push_back(condition);
      values.push_back(sub(then));
    }
    values.push_back(e.otherwise ? sub(e.otherwise) : make(Constant{}, text, location));
    const Type type = common_type(values, location, "the branches of CASE");
    CaseOf chosen;
    for (std::size_t i = 0; i < conditions.size(); ++i)
      chosen.branches.emplace_back(conditions[i], converted(values[i], type, location));
    chosen.otherwise = converted(values.back(), type, location);
    return folded(make(std::move(chosen), type, location));
  }

  ExpressionPtr operator()(const sql::Cast& e) const {
    const ExpressionPtr operand = sub(e.operand);
    const bool from_text = is_text(operand->type), to_text = is_text(e.type);
    if (from_text && to_text) return operand;
    if (from_text || to_text) {
      if (is_tensor(operand->type) || is_tensor(e.type))
        fail_type(location, "cannot cast {} to {}", sql::to_string(operand->type),
                  sql::to_string(e.type));
      return folded(make(TextCast{operand}, e.type, location));
    }
    const TileType wanted = tile_type(e.type), have = tile_type(operand->type);
    if (wanted.shape != have.shape)
      fail_type(location,
                "cannot cast {} to {}: a cast changes the type of the elements, not the shape; "
                "use reshape",
                sql::to_string(operand->type), sql::to_string(e.type));
    const bool narrows = is_integer(operand->type) && bits_of(e.type) < bits_of(operand->type);
    if (wanted.dtype == have.dtype && !narrows) return make(operand->node, e.type, location);
    return folded(make(KernelOf{cast_to(e.type), {operand}}, e.type, location));
  }

  ExpressionPtr operator()(const sql::InList& e) const {
    ExpressionPtr any;
    const ExpressionPtr operand = sub(e.operand);
    for (const sql::ExpressionPtr& option : e.options) {
      const ExpressionPtr equal =
          bind_operation(BinaryOperator::equal, operand, sub(option), option->location);
      any = any ? bind_operation(BinaryOperator::logical_or, any, equal, location) : equal;
    }
    return e.negated ? folded(make(Negation{any}, boolean_type, location)) : any;
  }

  ExpressionPtr operator()(const sql::Between& e) const {
    const ExpressionPtr operand = sub(e.operand);
    const ExpressionPtr both = bind_operation(
        BinaryOperator::logical_and,
        bind_operation(BinaryOperator::greater_equal, operand, sub(e.low), location),
        bind_operation(BinaryOperator::less_equal, operand, sub(e.high), location), location);
    return e.negated ? folded(make(Negation{both}, boolean_type, location)) : both;
  }

  ExpressionPtr operator()(const sql::IsNull& e) const {
    return folded(make(NullTest{sub(e.operand), e.negated}, boolean_type, location));
  }

  ExpressionPtr operator()(const sql::ScalarSubquery& e) const {
    if (!scope.subquery) fail_type(location, "a subquery is not allowed here");
    return scope.subquery(e, location);
  }

  ExpressionPtr operator()(const sql::ArrayLiteral& e) const { return array(e); }

  ExpressionPtr operator()(const sql::Transposed& e) const {
    const ExpressionPtr operand = sub(e.operand);
    if (is_null(*operand)) return operand;
    if (is_text(operand->type)) fail_type(location, "operator .T is not defined for TEXT");
    return lang::at_location(location, [&] {
      const KernelCall kernel("transpose");
      const TileType type = kernel.infer(std::vector<TileType>{tile_type(operand->type)}).at(0);
      return folded(make(KernelOf{kernel, {operand}}, sql_type(type), location));
    });
  }

  ExpressionPtr operator()(const sql::Versioned& e) const {
    fail_type(
        location,
        "{0}[...] is a version of a table and is allowed only in FROM; to slice a tensor, use "
        "slice({0}, begin = ..., end = ...)",
        e.name);
  }

  ExpressionPtr operator()(const sql::Slice&) const { return refuse_indices(); }
  ExpressionPtr operator()(const sql::Indexed&) const { return refuse_indices(); }
  ExpressionPtr operator()(const sql::Tuple&) const { return refuse_comprehension(); }
  ExpressionPtr operator()(const sql::Range&) const { return refuse_comprehension(); }
  ExpressionPtr operator()(const sql::Aggregation&) const { return refuse_comprehension(); }
  ExpressionPtr operator()(const std::shared_ptr<const sql::Comprehension>&) const {
    return refuse_comprehension();
  }
  [[noreturn]] ExpressionPtr refuse_comprehension() const {
    fail_type(location,
              "array comprehensions are not allowed over rows; use SELECT [ ... ] without FROM, or "
              "CREATE TENSOR ... AS [ ... ]");
  }

  [[noreturn]] ExpressionPtr refuse_indices() const {
    fail_type(location,
              "indices are allowed in expressions over stored tensors; for a value of a column use "
              "slice(..., begin = ..., end = ...)");
  }

  /// A tensor of constants. Its elements have the widest type that is written.
  ExpressionPtr array(const sql::ArrayLiteral& e) const {
    if (e.elements.empty()) fail_type(location, "cannot determine the type of an empty array");
    std::vector<Tile> parts;
    DType dtype = DType::boolean;
    for (const sql::ExpressionPtr& element : e.elements) {
      const ExpressionPtr part = sub(element);
      const auto* constant = std::get_if<Constant>(&part->node);
      if (constant == nullptr || constant->value.is_null() || constant->value.is_text())
        fail_type(element->location, "array elements must be constant numbers");
      parts.push_back(constant->value.tile());
      dtype = promote(dtype, parts.back().dtype());
      if (parts.back().shape() != parts.front().shape())
        fail_type(element->location, "array elements must have the same shape, not {} and {}",
                  to_string(parts.front().shape()), to_string(parts.back().shape()));
    }
    if (parts.front().rank() >= max_rank)
      fail_type(location, "an array cannot have more than {} dimensions", max_rank);
    Shape shape{static_cast<std::int64_t>(parts.size())};
    for (std::int64_t extent : parts.front().shape()) shape.push_back(extent);
    std::vector<Tile> rows;
    for (const Tile& part : parts) {
      Shape row{1};
      for (std::int64_t extent : part.shape()) row.push_back(extent);
      rows.push_back(part.cast(dtype).reshape(row));
    }
    const Tile all = KernelCall("concat", {{"axis", std::int64_t{0}}})(rows);
    return make(Constant{Cell(all)}, sql_type(all.type()), location);
  }
};

}  // namespace

ExpressionPtr bind(const sql::Expression& expression, const Scope& scope) {
  if (scope.special)
    if (ExpressionPtr found = scope.special(expression)) return found;
  return std::visit(Binder{expression, scope}, expression.node);
}

ExpressionPtr bind_condition(const sql::Expression& expression, const Scope& scope,
                             std::string_view clause) {
  const ExpressionPtr condition = bind(expression, scope);
  if (!is_boolean(condition->type) && !is_null(*condition))
    fail_type(expression.location, "argument of {} must be BOOLEAN, not {}", clause,
              sql::to_string(condition->type));
  return condition;
}

ExpressionPtr bind_constant(const sql::Expression& expression,
                            const std::vector<std::string>& parameters) {
  const Schema none;
  Scope scope{&none, &parameters};
  return bind(expression, scope);
}

ExpressionPtr folded(const ExpressionPtr& expression) {
  if (std::holds_alternative<Constant>(expression->node) || !is_constant(*expression))
    return expression;
  return make(Constant{evaluate(*expression, {}, {})}, expression->type, expression->location);
}

}  // namespace tessera::query
