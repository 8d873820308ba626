#include "support/sequential_program.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

namespace tessera {
namespace {

class Sequential {
 public:
  explicit Sequential(std::map<std::string, Tile>& arrays) : arrays_(arrays) {}

  void run(const sql::Steps& steps) {
    const std::map<std::string, double> around = names_;
    for (const sql::StepPtr& step : steps)
      std::visit([&](const auto& node) { one(node); }, step->node);
    names_ = around;
  }

 private:
  void one(const sql::Variable& variable) {
    Shape shape;
    for (const sql::ExpressionPtr& extent : variable.extents) shape.push_back(whole(*extent));
    MutableTile made = MutableTile::zeros(DType::f64, shape);
    if (variable.value) made.data<double>()[0] = value(*variable.value);
    arrays_.insert_or_assign(variable.name, std::move(made).publish());
  }
  void one(const sql::Definition& definition) {
    names_[definition.name] = value(*definition.value);
  }
  void one(const sql::Assignment& assignment) {
    Index at;
    for (const sql::ExpressionPtr& index : assignment.indices) at.push_back(whole(*index));
    const double operand = value(*assignment.value);
    if (!arrays_.contains(assignment.name))
      arrays_.emplace(assignment.name, MutableTile::zeros(DType::f64, {}).publish());
    Tile& array = arrays_.at(assignment.name);
    const std::int64_t offset = offset_of(array, at);
    const double old = array.contiguous().data<double>()[offset];
    const std::string& op = assignment.update;
    MutableTile changed = MutableTile::uninitialized(DType::f64, array.shape());
    const Tile before = array.contiguous();
    std::copy_n(before.data<double>(), array.elements(), changed.data<double>());
    changed.data<double>()[offset] = op.empty()    ? operand
                                     : op == "+"   ? old + operand
                                     : op == "-"   ? old - operand
                                     : op == "*"   ? old * operand
                                     : op == "/"   ? old / operand
                                     : op == "min" ? std::min(old, operand)
                                     : op == "max" ? std::max(old, operand)
                                                   : throw std::logic_error("no such update");
    array = std::move(changed).publish();
  }
  void one(const sql::ForLoop& loop) {
    const std::int64_t by = loop.by ? whole(*loop.by) : 1, to = whole(*loop.to);
    for (std::int64_t i = whole(*loop.from); by > 0 ? i <= to : i >= to; i += by) {
      const auto before = names_;
      names_[loop.variable] = static_cast<double>(i);
      run(loop.body);
      names_ = before;
    }
  }
  void one(const sql::WhileLoop& loop) {
    while (value(*loop.condition) != 0) run(loop.body);
  }
  void one(const sql::Branch& branch) {
    run(value(*branch.condition) != 0 ? branch.yes : branch.no);
  }

  std::int64_t whole(const sql::Expression& expression) {
    return static_cast<std::int64_t>(value(expression));
  }
  static std::int64_t offset_of(const Tile& array, const Index& at) {
    std::int64_t offset = 0;
    for (int d = 0; d < array.rank(); ++d) {
      if (at[d] < 0 || at[d] >= array.shape()[d]) throw std::logic_error("outside");
      offset = offset * array.shape()[d] + at[d];
    }
    return offset;
  }

  double value(const sql::Expression& expression) {
    if (const auto* literal = std::get_if<sql::Literal>(&expression.node)) {
      if (const auto* integer = std::get_if<std::int64_t>(&literal->value))
        return static_cast<double>(*integer);
      return std::get<double>(literal->value);
    }
    if (const auto* name = std::get_if<sql::Name>(&expression.node)) {
      const auto known = names_.find(name->column);
      if (known != names_.end()) return known->second;
      return arrays_.at(name->column).contiguous().data<double>()[0];
    }
    if (const auto* unary = std::get_if<sql::Unary>(&expression.node)) {
      const double operand = value(*unary->operand);
      return unary->op == sql::UnaryOperator::minus ? -operand : operand == 0;
    }
    if (const auto* indexed = std::get_if<sql::Versioned>(&expression.node)) {
      Index at;
      for (const sql::ExpressionPtr& index : indexed->indices) at.push_back(whole(*index));
      const Tile array = arrays_.at(indexed->name).contiguous();
      return array.data<double>()[offset_of(array, at)];
    }
    const auto& binary = std::get<sql::Binary>(expression.node);
    const double a = value(*binary.left), b = value(*binary.right);
    switch (binary.op) {
      case sql::BinaryOperator::add: return a + b;
      case sql::BinaryOperator::subtract: return a - b;
      case sql::BinaryOperator::multiply: return a * b;
      case sql::BinaryOperator::remainder: return a - std::floor(a / b) * b;
      case sql::BinaryOperator::equal: return a == b;
      case sql::BinaryOperator::less: return a < b;
      case sql::BinaryOperator::less_equal: return a <= b;
      case sql::BinaryOperator::greater: return a > b;
      case sql::BinaryOperator::logical_and: return a != 0 && b != 0;
      default: throw std::logic_error("no such operator");
    }
  }

  std::map<std::string, Tile>& arrays_;
  std::map<std::string, double> names_;
};

}  // namespace

void run_in_sequence(const sql::Program& program, std::map<std::string, Tile>& arrays) {
  Sequential(arrays).run(program.steps);
}

}  // namespace tessera
