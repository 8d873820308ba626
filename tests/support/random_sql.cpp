#include "support/random_sql.h"

#include "lang/sql/words.h"
#include "support/random_sql_parts.h"

namespace tessera::sql {

std::string random_name(Random& random) {
  static const std::vector<std::string> names = {
      "a",     "b",     "t",    "W",       "ROW",     "val",    "DO",     "T",      "order",
      "a b",   "a.b",   "2nd",  "it\"s",   "größe",   "Select", "values", "cast",   "primary",
      "if",    "end",   "left", "default", "matrix",  "tile",   "sum",    "COUNT",  "recursive",
      "union", "\"",    "é",    "all",     "offset",  "on",     "x_1",    "format", "analyze_",
      "for",   "table", "key",  "null",    "between", ";",      "--",     "of",     "precision"};
  return random.pick(names);
}

std::vector<std::string> random_names(Random& random, int least, int most) {
  return random_list(random, least, most, [&] { return random_name(random); });
}

namespace {

ExpressionPtr make(decltype(Expression::node) node) {
  return std::make_shared<const Expression>(Expression{std::move(node), {}});
}

ExpressionPtr random_literal(Random& random) {
  static const std::vector<double> decimals = {0.5, 1.0, 1e-8, 1e300, 123456.789, 5e-324, 0.0};
  static const std::vector<std::string> texts = {"",      "abc", "it's", "a;b--c/*",
                                                 "größe", "\n",  "\""};
  switch (random.between(0, 5)) {
    case 0: return make(Literal{Null{}});
    case 1: return make(Literal{random.chance(0.5)});
    case 2: return make(Literal{random.pick(texts)});
    case 3: return make(Literal{random.pick(decimals)});
    case 4: return make(Literal{std::int64_t{INT64_MAX}});
    default: {
      const std::int64_t number = random.between(0, 100);
      return make(Literal{number % 8 == 7 ? INT64_MIN : number});
    }
  }
}

ExpressionPtr random_leaf(Random& random) {
  switch (random.between(0, 2)) {
    case 0: return random_literal(random);
    case 1: return make(Name{{}, random_name(random)});
    default: return make(Name{random_name(random), random_name(random)});
  }
}

std::vector<ExpressionPtr> some(Random& random, int depth, int least, int most) {
  return random_list(random, least, most, [&] { return random_expression(random, depth - 1); });
}

ExpressionPtr random_call(Random& random, int depth) {
  Call call{random_name(random)};
  if (random.chance(0.1)) {
    call.star = true;
    return make(std::move(call));
  }
  call.distinct = random.chance(0.1);
  call.arguments = some(random, depth, call.distinct ? 1 : 0, 3);
  if (!is_plain_aggregate(call.name) && random.chance(0.3)) {
    call.parameters.emplace_back("axes", random_expression(random, depth - 1));
    if (random.chance(0.5))
      call.parameters.emplace_back("order", random_expression(random, depth - 1));
  }
  return make(std::move(call));
}

ExpressionPtr random_case(Random& random, int depth) {
  Case cases;
  if (random.chance(0.5)) cases.operand = random_expression(random, depth - 1);
  for (std::int64_t i = random.between(1, 2); i > 0; --i)
    cases.branches.emplace_back(random_expression(random, depth - 1),
                                random_expression(random, depth - 1));
  if (random.chance(0.5)) cases.otherwise = random_expression(random, depth - 1);
  return make(std::move(cases));
}

}  // namespace

Type random_type(Random& random) {
  Type type{static_cast<Type::Kind>(random.between(0, 6))};
  if (type.kind != Type::Kind::tensor) return type;
  type.element = static_cast<DType>(random.between(0, 3));
  type.shape = random_sizes(random, 0);
  return type;
}

Shape random_sizes(Random& random, int least_rank) {
  Shape shape;
  for (std::int64_t i = random.between(least_rank, 4); i > 0; --i)
    shape.push_back(random.between(1, 4000));
  return shape;
}

/// Of a part of a tensor, one of them a slice.
std::vector<ExpressionPtr> random_indices(Random& random, int depth) {
  std::vector<ExpressionPtr> indices = some(random, depth, 0, 2);
  Slice slice{nullptr, nullptr, nullptr, random.chance(0.1)};
  if (!slice.is_ellipsis) {
    if (random.chance(0.5)) slice.from = random_expression(random, depth - 1);
    if (random.chance(0.5)) slice.to = random_expression(random, depth - 1);
    if (random.chance(0.3)) slice.step = random_expression(random, depth - 1);
  }
  const auto at = random.between(0, static_cast<std::int64_t>(indices.size()));
  indices.insert(indices.begin() + at, make(std::move(slice)));
  return indices;
}

ExpressionPtr random_expression(Random& random, int depth) {
  if (depth <= 0) return random_leaf(random);
  const auto part = [&] { return random_expression(random, depth - 1); };
  switch (random.between(0, 18)) {
    case 0: return random_leaf(random);
    case 18: {
      const bool named = random.chance(0.5);
      return make(Indexed{named ? make(Name{{}, random_name(random)}) : make(Transposed{part()}),
                          random_indices(random, depth)});
    }
    case 1: return make(Unary{UnaryOperator::minus, part()});
    case 2: return make(Unary{UnaryOperator::logical_not, part()});
    case 3: return random_call(random, depth);
    case 4: return random_case(random, depth);
    case 5: return make(Cast{part(), random_type(random)});
    case 6: return make(InList{part(), some(random, depth, 1, 3), random.chance(0.5)});
    case 7: return make(Between{part(), part(), part(), random.chance(0.5)});
    case 8: return make(IsNull{part(), random.chance(0.5)});
    case 9: return make(ScalarSubquery{random_query(random, depth - 1)});
    case 10: return make(ArrayLiteral{some(random, depth, 0, 3)});
    case 11: return make(Transposed{part()});
    case 12: return make(Versioned{random_name(random), some(random, depth, 1, 2)});
    default:
      return make(Binary{static_cast<BinaryOperator>(random.between(0, 13)), part(), part()});
  }
}

}  // namespace tessera::sql
