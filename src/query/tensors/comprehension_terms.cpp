#include <algorithm>
#include <array>

#include "base/check.h"
#include "calculus/bounds.h"
#include "lang/sql/operators.h"
#include "query/binding/bind_expression.h"
#include "query/tensors/comprehension_binder.h"

namespace tessera::query {

using lang::fail_type;

namespace {

struct MonoidName {
  std::string_view written;
  Monoid monoid;
};
constexpr std::array monoid_names = {
    MonoidName{"+", Monoid::sum},         MonoidName{"sum", Monoid::sum},
    MonoidName{"*", Monoid::product},     MonoidName{"product", Monoid::product},
    MonoidName{"min", Monoid::min},       MonoidName{"max", Monoid::max},
    MonoidName{"and", Monoid::all},       MonoidName{"all", Monoid::all},
    MonoidName{"or", Monoid::any},        MonoidName{"any", Monoid::any},
    MonoidName{"argmin", Monoid::argmin}, MonoidName{"argmax", Monoid::argmax},
};

std::optional<Monoid> monoid_written(const std::string& name) {
  for (const MonoidName& known : monoid_names)
    if (same_name(known.written, name)) return known.monoid;
  return std::nullopt;
}

bool is_literal(const Term& term) { return as<term::Number>(term) != nullptr; }

/// A number that is written down takes the width of what it meets, as in expressions over tensors.
Term fitted(const Term& literal, DType other) {
  const Scalar value = as<term::Number>(literal)->value;
  if (value.dtype() == DType::boolean || !is_float(other)) return literal;
  return number(value.cast(other));
}

class Restored {
 public:
  Restored(bool& flag, bool value) : flag_(flag), before_(std::exchange(flag, value)) {}
  ~Restored() { flag_ = before_; }
  Restored(const Restored&) = delete;
  Restored& operator=(const Restored&) = delete;

 private:
  bool& flag_;
  bool before_;
};

}  // namespace

calculus::Array ComprehensionBinder::number_of(const sql::Expression& expression) {
  const Term value = term(expression);
  return lang::at_location(expression.location,
                           [&] { return form_.array({}, value, std::nullopt); });
}

BoundValue ComprehensionBinder::value(const sql::Expression& expression) {
  if (const auto* tuple = std::get_if<sql::Tuple>(&expression.node)) {
    std::vector<BoundValue> parts;
    for (const sql::ExpressionPtr& element : tuple->elements) parts.push_back(value(*element));
    return {parts};
  }
  if (const auto* name = std::get_if<sql::Name>(&expression.node); name && name->table.empty())
    if (const BoundValue* known = variables_.find(name->column)) return *known;
  if (const auto* nested = std::get_if<std::shared_ptr<const sql::Comprehension>>(&expression.node))
    return {ComprehensionBinder(meant_).array(**nested, expression.location)};
  return {term(expression)};
}

Term ComprehensionBinder::term(const sql::Expression& expression) {
  return std::visit([&](const auto& node) { return part(node, expression.location); },
                    expression.node);
}

Term ComprehensionBinder::part(const sql::Literal& literal, lang::Location location) {
  if (const auto* truth = std::get_if<bool>(&literal.value)) return number(*truth);
  if (const auto* whole = std::get_if<std::int64_t>(&literal.value)) return number(*whole);
  if (const auto* real = std::get_if<double>(&literal.value)) return number(*real);
  if (const auto* tile = std::get_if<Tile>(&literal.value); tile && tile->rank() == 0)
    return visit_dtype(tile->dtype(), [&]<class T>() { return number(tile->at<T>({})); });
  fail_type(location, "expected a number");
}

Term ComprehensionBinder::part(const sql::Name& name, lang::Location location) {
  if (name.table.empty())
    if (const BoundValue* known = variables_.find(name.column)) {
      if (known->lifted && !in_fold_)
        fail_type(location, "\"{0}\" is all values of a group here; fold them, as in +/{0}",
                  name.column);
      if (const auto* term = std::get_if<Term>(&known->value)) return *term;
      fail_type(location, "\"{}\" is {}, not a number", name.column, kind_text(*known));
    }
  const calculus::Array array = array_of({name, location}, nullptr);
  if (array.type.shape.rank() > 0)
    fail_type(location, "{} is an array {}; index it, as in {}[{}]",
              sql::to_string({name, location}), to_string(array.type), name.column,
              fmt::join(std::vector<char>(array.type.shape.size(), 'i'), ", "));
  return form_.element(array, {});
}

Term ComprehensionBinder::part(const sql::Unary& unary, lang::Location location) {
  const bool minus = unary.op == sql::UnaryOperator::minus;
  return function(minus ? "neg" : "logical_not", {term(*unary.operand)}, location);
}

Term ComprehensionBinder::part(const sql::Binary& binary, lang::Location location) {
  using enum sql::BinaryOperator;
  if (binary.op == matmul)
    fail_type(location, "@ multiplies arrays, not their elements; fold the products, as in +/v");
  const std::string name(binary.op == integer_divide ? "floor_divide"
                         : binary.op == remainder    ? "remainder"
                                                     : sql::kernel_of(binary.op));
  return function(name, {term(*binary.left), term(*binary.right)}, location);
}

Term ComprehensionBinder::function(const std::string& name, std::vector<Term> arguments,
                                   lang::Location location) {
  return lang::at_location(location, [&] {
    const std::size_t count = arguments.size();
    for (std::size_t i = 0; i < count && count == 2; ++i)
      if (is_literal(arguments[i]) && !is_literal(arguments[1 - i]))
        arguments[i] = fitted(arguments[i], form_.dtype(arguments[1 - i]));
    const auto* divisor = count == 2 ? as<term::Number>(arguments[1]) : nullptr;
    const bool divides = name == "floor_divide" || name == "remainder";
    if (divides && divisor != nullptr && divisor->value.dtype() == DType::i64 &&
        divisor->value.as<std::int64_t>() == 0 && form_.dtype(arguments[0]) == DType::i64)
      fail_type(location, "division by zero");
    const Term made = applied(name, std::move(arguments));
    (void)form_.dtype(made);  // refuses what it is not defined for
    return made;
  });
}

Term ComprehensionBinder::part(const sql::Call& call, lang::Location location) {
  if (!call.parameters.empty() || call.star || call.distinct)
    fail_type(location, "{} takes no parameters in an array comprehension", call.name);
  if (same_name(call.name, "size")) return extent_of(call, location);
  if (same_name(call.name, "where") && call.arguments.size() == 3)
    return part(sql::Case{nullptr, {{call.arguments[0], call.arguments[1]}}, call.arguments[2]},
                location);
  const auto only = [&]() -> const sql::Expression& {
    if (call.arguments.size() != 1)
      fail_type(location, "{} takes 1 argument, found {}", call.name, call.arguments.size());
    return *call.arguments[0];
  };
  if (same_name(call.name, "count")) return folded_count(only());
  if (same_name(call.name, "avg"))
    return function("div", {folded(Monoid::sum, only()), folded_count(only())}, location);
  if (const auto monoid = monoid_written(call.name)) return folded(*monoid, only());
  const std::string kernel = function_named(call.name, location).kernel->name;
  const ScalarFunction* found = scalar_function(kernel);
  if (found == nullptr)
    fail_type(location, "{} is a function of arrays, not of their elements", call.name);
  if (!std::cmp_equal(found->arguments, call.arguments.size()))
    fail_type(location, "{} takes {} argument{}, found {}", call.name, found->arguments,
              found->arguments == 1 ? "" : "s", call.arguments.size());
  std::vector<Term> arguments;
  for (const sql::ExpressionPtr& argument : call.arguments) arguments.push_back(term(*argument));
  return function(kernel, std::move(arguments), location);
}

Term ComprehensionBinder::extent_of(const sql::Call& call, lang::Location location) {
  if (call.arguments.size() != 2)
    fail_type(location, "size takes an array and a dimension, as in size(A, 0)");
  const BoundValue array{array_of(*call.arguments[0], nullptr)};
  const Shape& shape = std::get<calculus::Array>(array.value).type.shape;
  const auto dimension = calculus::bounds_of(term(*call.arguments[1]), {});
  if (!dimension || dimension->low != dimension->high || dimension->low < 0 ||
      dimension->low >= shape.rank())
    fail_type(call.arguments[1]->location, "{} has dimensions 0 to {}",
              sql::to_string(*call.arguments[0]), shape.rank() - 1);
  return number(shape[static_cast<int>(dimension->low)]);
}

Term ComprehensionBinder::part(const sql::Case& cases, lang::Location location) {
  if (cases.operand || !cases.otherwise)
    fail_type(location, "write CASE WHEN condition THEN value ELSE value END here");
  Term result = term(*cases.otherwise);
  for (auto branch = cases.branches.rbegin(); branch != cases.branches.rend(); ++branch) {
    Term yes = term(*branch->second);
    if (is_literal(yes) && !is_literal(result)) yes = fitted(yes, form_.dtype(result));
    if (is_literal(result) && !is_literal(yes)) result = fitted(result, form_.dtype(yes));
    result = choice(term(*branch->first), yes, result);
  }
  return result;
}

Term ComprehensionBinder::part(const sql::Cast& cast, lang::Location location) {
  DType dtype = DType::f64;
  switch (cast.type.kind) {
    case sql::Type::Kind::integer:
    case sql::Type::Kind::bigint: dtype = DType::i64; break;
    case sql::Type::Kind::real: dtype = DType::f32; break;
    case sql::Type::Kind::double_precision: break;
    case sql::Type::Kind::boolean: dtype = DType::boolean; break;
    default: fail_type(location, "cannot cast an element to {}", sql::to_string(cast.type));
  }
  return tessera::cast(dtype, term(*cast.operand));
}

Term ComprehensionBinder::part(const sql::Versioned& indexed, lang::Location location) {
  const BoundValue* known = variables_.find(indexed.name);
  const calculus::Array array = array_of({sql::Name{{}, indexed.name}, location}, known);
  const Shape& shape = array.type.shape;
  if (!std::cmp_equal(shape.rank(), indexed.indices.size()))
    fail_type(location, "{} has {} dimensions, but {} indices are given", indexed.name,
              shape.rank(), indexed.indices.size());
  std::vector<Term> at;
  for (const sql::ExpressionPtr& index : indexed.indices) {
    at.push_back(term(*index));
    if (form_.dtype(at.back()) != DType::i64)
      fail_type(index->location, "an index must be an integer, not {}",
                to_string(form_.dtype(at.back())));
  }
  return form_.element(array, at);
}

Term ComprehensionBinder::part(const sql::Aggregation& aggregation, lang::Location location) {
  if (aggregation.monoid == "count") return folded_count(*aggregation.operand);
  const auto monoid = monoid_written(aggregation.monoid);
  TESSERA_INVARIANT(monoid, "monoid {} at {}", aggregation.monoid, location.offset);
  return folded(*monoid, *aggregation.operand);
}

/// How many values there are.
Term ComprehensionBinder::folded_count(const sql::Expression& operand) {
  return folded(Monoid::sum, operand, [](const Term&) { return integer(1); });
}

Term ComprehensionBinder::folded(Monoid monoid, const sql::Expression& operand,
                                 const std::function<Term(const Term&)>& of_each) {
  const auto* nested = std::get_if<std::shared_ptr<const sql::Comprehension>>(&operand.node);
  if (nested == nullptr) {
    if (!form_.is_grouped())
      fail_type(operand.location,
                "there is no group to fold here; add group by, or fold a "
                "comprehension, as in +/[ v | (i, v) <- A ]");
    const Restored lifted(in_fold_, true);
    return lang::at_location(operand.location,
                             [&] { return form_.folded(monoid, of_each(term(operand))); });
  }
  return form_.nested(monoid, [&] {
    const Restored outside(in_fold_, false);
    const std::size_t known = variables_.count();
    qualifiers(**nested);
    const Term value = of_each(term(*(*nested)->head));
    variables_.forget_after(known);
    return value;
  });
}

template <class Other>
Term ComprehensionBinder::part(const Other&, lang::Location location) {
  fail_type(location,
            "not allowed in an array comprehension; it may contain variables, numbers, elements of "
            "arrays, operators, functions and folds");
}

}  // namespace tessera::query
