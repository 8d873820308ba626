#include "support/naive_comprehension.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>

namespace tessera {
namespace {

using namespace sql;

/// A number, a tuple, or all values of a group.
struct Meaning {
  double number = 0;
  std::vector<Meaning> parts = {};
  bool is_tuple = false, is_group = false;
};
struct Bindings {
  std::map<std::string, Meaning> values;
  std::vector<Bindings> group = {};  // the bindings of before the grouping
};

Meaning tuple(std::vector<Meaning> parts) { return {0, std::move(parts), true}; }

class Naive {
 public:
  explicit Naive(const ArrayNamed& named) : named_(named) {}

  std::vector<Meaning> values(const Comprehension& of, const Bindings& around) const {
    std::vector<Meaning> heads;
    for (const Bindings& one : bindings(of, around)) heads.push_back(value(*of.head, one));
    return heads;
  }
  double number(const Expression& expression, const Bindings& in) const {
    return value(expression, in).number;
  }

 private:
  std::vector<Bindings> bindings(const Comprehension& of, const Bindings& around) const {
    std::vector<Bindings> all = {around};
    for (const Qualifier& qualifier : of.qualifiers) {
      std::vector<Bindings> next;
      if (const auto* group = std::get_if<GroupBy>(&qualifier.node)) {
        next = grouped(*group, all);
      } else {
        for (const Bindings& one : all) extend(qualifier, one, next);
      }
      all = std::move(next);
    }
    return all;
  }

  void extend(const Qualifier& qualifier, const Bindings& one, std::vector<Bindings>& into) const {
    if (const auto* generator = std::get_if<Generator>(&qualifier.node)) {
      for (const Meaning& element : elements(*generator, one)) {
        into.push_back(one);
        bind(generator->pattern, element, into.back());
      }
    } else if (const auto* let = std::get_if<Let>(&qualifier.node)) {
      into.push_back(one);
      bind(let->pattern, value(*let->value, one), into.back());
    } else if (number(*std::get<Condition>(qualifier.node).condition, one) != 0) {
      into.push_back(one);
    }
  }

  std::vector<Bindings> grouped(const GroupBy& group, const std::vector<Bindings>& all) const {
    std::map<std::vector<double>, Bindings> groups;
    for (const Bindings& one : all) {
      const Meaning key = group.key ? value(*group.key, one) : pattern_value(group.pattern, one);
      std::vector<double> numbers;
      if (key.is_tuple)
        for (const Meaning& part : key.parts) numbers.push_back(part.number);
      else
        numbers.push_back(key.number);
      Bindings& made = groups[numbers];
      made.group.push_back(one);
      for (const auto& [name, meaning] : one.values) {
        Meaning& lifted = made.values[name];
        lifted.is_group = true;
        lifted.parts.push_back(meaning);
      }
      bind(group.pattern, key, made);
    }
    std::vector<Bindings> result;
    for (auto& [key, bindings] : groups) result.push_back(std::move(bindings));
    // The keys are bound last, over what is lifted.
    return result;
  }

  Meaning pattern_value(const Pattern& pattern, const Bindings& in) const {
    if (!pattern.is_tuple) return in.values.at(pattern.variable);
    std::vector<Meaning> parts;
    for (const Pattern& part : pattern.parts) parts.push_back(pattern_value(part, in));
    return tuple(std::move(parts));
  }

  static void bind(const Pattern& pattern, const Meaning& meaning, Bindings& into) {
    if (!pattern.is_tuple) {
      into.values[pattern.variable] = meaning;
    } else {
      for (std::size_t i = 0; i < pattern.parts.size(); ++i)
        bind(pattern.parts[i], meaning.parts.at(i), into);
    }
  }

  std::vector<Meaning> elements(const Generator& generator, const Bindings& in) const {
    std::vector<Meaning> all;
    if (const auto* range = std::get_if<Range>(&generator.domain->node)) {
      for (double i = number(*range->from, in); i <= number(*range->to, in); ++i)
        all.push_back({i});
      return all;
    }
    if (const auto* nested =
            std::get_if<std::shared_ptr<const Comprehension>>(&generator.domain->node))
      return values(**nested, in);
    const auto& name = std::get<Name>(generator.domain->node).column;
    if (const auto known = in.values.find(name); known != in.values.end())
      return known->second.parts;
    const Tile array = named_(name);
    Index index(array.shape().size(), 0);
    for (std::int64_t i = 0; i < array.elements(); ++i) {
      std::vector<Meaning> position;
      for (std::int64_t at : index) position.push_back({static_cast<double>(at)});
      const double element = array.at<double>(index);
      if (generator.every || !array.is_sparse() || element != 0)
        all.push_back(
            tuple({position.size() == 1 ? position[0] : tuple(position), Meaning{element}}));
      for (std::size_t d = index.size(); d-- > 0;) {
        if (++index[d] < array.shape()[d]) break;
        index[d] = 0;
      }
    }
    return all;
  }

  Meaning value(const Expression& expression, const Bindings& in) const {
    if (const auto* parts = std::get_if<sql::Tuple>(&expression.node)) {
      std::vector<Meaning> all;
      for (const ExpressionPtr& element : parts->elements) all.push_back(value(*element, in));
      return tuple(std::move(all));
    }
    if (const auto* name = std::get_if<Name>(&expression.node)) return in.values.at(name->column);
    if (const auto* fold = std::get_if<Aggregation>(&expression.node))
      return {folded(fold->monoid, folded_values(*fold->operand, in))};
    return {plain(expression, in)};
  }

  std::vector<double> folded_values(const Expression& operand, const Bindings& in) const {
    std::vector<double> numbers;
    if (const auto* nested = std::get_if<std::shared_ptr<const Comprehension>>(&operand.node)) {
      for (const Meaning& meaning : values(**nested, in)) numbers.push_back(meaning.number);
    } else {
      for (const Bindings& member : in.group) numbers.push_back(number(operand, member));
    }
    return numbers;
  }

  static double folded(const std::string& monoid, const std::vector<double>& values) {
    if (monoid == "count") return static_cast<double>(values.size());
    if (monoid == "argmin")
      return static_cast<double>(std::min_element(values.begin(), values.end()) - values.begin());
    double result = monoid == "+" || monoid == "or"    ? 0
                    : monoid == "*" || monoid == "and" ? 1
                    : monoid == "min"                  ? INFINITY
                                                       : -INFINITY;
    for (double value : values) {
      if (monoid == "+") result += value;
      if (monoid == "*") result *= value;
      if (monoid == "min") result = std::min(result, value);
      if (monoid == "max") result = std::max(result, value);
      if (monoid == "and") result = result != 0 && value != 0;
      if (monoid == "or") result = result != 0 || value != 0;
    }
    return result;
  }

  double plain(const Expression& expression, const Bindings& in) const {
    if (const auto* literal = std::get_if<Literal>(&expression.node)) {
      if (const auto* whole = std::get_if<std::int64_t>(&literal->value))
        return static_cast<double>(*whole);
      return std::get<double>(literal->value);
    }
    if (const auto* unary = std::get_if<Unary>(&expression.node)) {
      const double a = number(*unary->operand, in);
      return unary->op == UnaryOperator::minus ? -a : a == 0;
    }
    if (const auto* indexed = std::get_if<Versioned>(&expression.node)) {
      const Tile array = named_(indexed->name);
      Index index;
      for (const ExpressionPtr& at : indexed->indices)
        index.push_back(static_cast<std::int64_t>(number(*at, in)));
      for (int d = 0; d < array.rank(); ++d)
        if (index[d] < 0 || index[d] >= array.shape()[d]) throw std::logic_error("outside");
      return array.at<double>(index);
    }
    if (const auto* cases = std::get_if<Case>(&expression.node)) {
      for (const auto& [condition, result] : cases->branches)
        if (number(*condition, in) != 0) return number(*result, in);
      return number(*cases->otherwise, in);
    }
    const auto& binary = std::get<Binary>(expression.node);
    const double a = number(*binary.left, in), b = number(*binary.right, in);
    switch (binary.op) {
      case BinaryOperator::add: return a + b;
      case BinaryOperator::subtract: return a - b;
      case BinaryOperator::multiply: return a * b;
      case BinaryOperator::divide: return a / b;
      case BinaryOperator::integer_divide: return std::floor(a / b);
      case BinaryOperator::remainder: return a - std::floor(a / b) * b;
      case BinaryOperator::equal: return a == b;
      case BinaryOperator::not_equal: return a != b;
      case BinaryOperator::less: return a < b;
      case BinaryOperator::less_equal: return a <= b;
      case BinaryOperator::greater: return a > b;
      case BinaryOperator::greater_equal: return a >= b;
      case BinaryOperator::logical_and: return a != 0 && b != 0;
      case BinaryOperator::logical_or: return a != 0 || b != 0;
      case BinaryOperator::matmul: break;
    }
    throw std::logic_error("no such operator");
  }

  const ArrayNamed& named_;
};

}  // namespace

Tile naive_comprehension(const Comprehension& comprehension, const ArrayNamed& named) {
  const Naive naive(named);
  Shape shape;
  for (const auto* dimensions : {&comprehension.storage->dense, &comprehension.storage->sparse})
    for (const ExpressionPtr& extent : *dimensions)
      shape.push_back(static_cast<std::int64_t>(naive.number(*extent, {})));
  MutableTile result = MutableTile::zeros(DType::f64, shape);
  std::set<std::int64_t> written;
  for (const Meaning& head : naive.values(comprehension, {})) {
    const Meaning& key = head.parts.at(0);
    const std::vector<Meaning> at = key.is_tuple ? key.parts : std::vector{key};
    std::int64_t offset = 0;
    bool inside = true;
    for (int d = 0; d < shape.rank(); ++d) {
      const auto index = static_cast<std::int64_t>(at.at(static_cast<std::size_t>(d)).number);
      inside = inside && index >= 0 && index < shape[d];
      offset = offset * shape[d] + index;
    }
    if (!inside) continue;
    if (!written.insert(offset).second) throw std::logic_error("two values of one element");
    result.data<double>()[offset] = head.parts.at(1).number;
  }
  return std::move(result).publish();
}

}  // namespace tessera
