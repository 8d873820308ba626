#include "key/program.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "base/check.h"
#include "key/expression.h"

namespace tessera {

/// A register for each distinct subexpression: what occurs twice is computed once.
class KeyProgram::Compiler {
 public:
  explicit Compiler(KeyProgram& program) : program_(program) {}

  int compile(const KeyExpr& expr) {
    const auto known = compiled_.find(&expr.node());
    if (known != compiled_.end()) return known->second;
    const int result = std::visit([&](const auto& form) { return emit(form); }, expr.node().form);
    compiled_.emplace(&expr.node(), result);
    return result;
  }
  int compile(const KeyPredicate& predicate) {
    return std::visit([this](const auto& form) { return this->emit(form); }, predicate.node().form);
  }

 private:
  using Expr = KeyExpr::Node;
  using Predicate = KeyPredicate::Node;

  int emit(const Expr::Constant& constant) { return fill(constant.value); }
  int emit(const Expr::Component& component) {
    for (const auto& [input, index] : program_.inputs_)
      if (index == component.index) return input;
    program_.registers_.push_back(nullptr);
    const int input = static_cast<int>(program_.registers_.size()) - 1;
    program_.inputs_.emplace_back(input, component.index);
    return input;
  }
  int emit(const Expr::Operation& operation) {
    const int left = compile(operation.left);
    const int right = compile(operation.right);
    std::optional<SmallDivisor> divisor;
    const auto* constant = std::get_if<Expr::Constant>(&operation.right.node().form);
    if (constant != nullptr && constant->value > 0 &&
        constant->value <= std::numeric_limits<std::uint32_t>::max())
      divisor.emplace(static_cast<std::uint32_t>(constant->value));
    return append(operation.op, left, right, divisor);
  }
  int emit(const Predicate::Truth& truth) { return fill(truth.value); }
  int emit(const Predicate::Relation& relation) {
    const int left = compile(relation.left);
    const int right = compile(relation.right);
    return append(relation.op, left, right);
  }
  int emit(const Predicate::Junction& junction) {
    const int left = compile(junction.left);
    const int right = compile(junction.right);
    return append(junction.conjunction ? Connective::both : Connective::either, left, right);
  }
  int emit(const Predicate::Negation& negation) {
    const int operand = compile(negation.operand);
    return append(Connective::neither, operand, operand);
  }
  template <class Opaque>
  int emit(const Opaque& opaque) {
    throw InternalError("the opaque " + opaque.name + " cannot be compiled");
  }

  int fill(std::int64_t value) {
    const int target = allocate();
    program_.storage_.back()->fill(value);
    return target;
  }
  int append(decltype(Instruction::op) op, int left, int right,
             std::optional<SmallDivisor> divisor = {}) {
    const int target = allocate();
    program_.instructions_.push_back({op, left, right, program_.storage_.back().get(), divisor});
    return target;
  }
  int allocate() {
    program_.storage_.push_back(std::make_unique<Column>());
    program_.registers_.push_back(program_.storage_.back()->data());
    return static_cast<int>(program_.registers_.size()) - 1;
  }

  KeyProgram& program_;
  std::unordered_map<const Expr*, int> compiled_;
};

KeyProgram::KeyProgram(const std::vector<KeyExpr>& outputs) {
  Compiler compiler(*this);
  for (const KeyExpr& output : outputs) outputs_.push_back(compiler.compile(output));
}

KeyProgram::KeyProgram(const KeyPredicate& output) {
  outputs_.push_back(Compiler(*this).compile(output));
}

bool KeyProgram::run(std::span<const Column> points, std::size_t count) {
  for (const auto& [input, component] : inputs_) registers_[input] = points[component].data();
  for (const Instruction& instruction : instructions_) {
    const bool defined =
        std::visit([&](auto op) { return execute(op, instruction, count); }, instruction.op);
    if (!defined) return false;
  }
  return true;
}

namespace {

template <class Function>
void for_each_lane(const std::int64_t* a, const std::int64_t* b, std::int64_t* result,
                   std::size_t count, Function function) {
  for (std::size_t i = 0; i < count; ++i) result[i] = function(a[i], b[i]);
}

/// Of a sum or a difference computed modulo 2^64, the sign bit of `error` tells whether the exact
/// one does not fit: operands and result then disagree in sign.
struct Wrapping {
  std::uint64_t error = 0;
  std::int64_t add(std::int64_t a, std::int64_t b) {
    const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
    const std::uint64_t sum = x + y;
    error |= (x ^ sum) & (y ^ sum);
    return static_cast<std::int64_t>(sum);
  }
  std::int64_t subtract(std::int64_t a, std::int64_t b) {
    const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
    const std::uint64_t difference = x - y;
    error |= (x ^ y) & (x ^ difference);
    return static_cast<std::int64_t>(difference);
  }
  bool overflowed() const { return error >> 63 != 0; }
};

bool all_below_2_to_32(const std::int64_t* values, std::size_t count) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < count; ++i) bits |= static_cast<std::uint64_t>(values[i]);
  return bits >> 32 == 0;
}

}  // namespace

bool KeyProgram::execute(Arithmetic op, const Instruction& instruction, std::size_t count) const {
  const std::int64_t* a = registers_[instruction.left];
  const std::int64_t* b = registers_[instruction.right];
  std::int64_t* result = instruction.result->data();
  switch (op) {
    case Arithmetic::add: {
      Wrapping wrapping;
      for_each_lane(a, b, result, count, [&](auto x, auto y) { return wrapping.add(x, y); });
      return !wrapping.overflowed();
    }
    case Arithmetic::subtract: {
      Wrapping wrapping;
      for_each_lane(a, b, result, count, [&](auto x, auto y) { return wrapping.subtract(x, y); });
      return !wrapping.overflowed();
    }
    case Arithmetic::multiply: {
      bool overflow = false;
      for_each_lane(a, b, result, count, [&](auto x, auto y) {
        std::int64_t product = 0;
        overflow |= __builtin_mul_overflow(x, y, &product);
        return product;
      });
      return !overflow;
    }
    case Arithmetic::divide:
    case Arithmetic::modulo: return divide(op, instruction, count);
  }
  return false;
}

bool KeyProgram::divide(Arithmetic op, const Instruction& instruction, std::size_t count) const {
  const std::int64_t* a = registers_[instruction.left];
  const std::int64_t* b = registers_[instruction.right];
  std::int64_t* result = instruction.result->data();
  if (instruction.divisor && all_below_2_to_32(a, count)) {
    const SmallDivisor divisor = *instruction.divisor;
    const auto small = [](std::int64_t x) { return static_cast<std::uint32_t>(x); };
    if (op == Arithmetic::divide) {
      for_each_lane(a, b, result, count, [&](auto x, auto) { return divisor.quotient(small(x)); });
    } else {
      for_each_lane(a, b, result, count, [&](auto x, auto) { return divisor.remainder(small(x)); });
    }
    return true;
  }
  bool defined = true;
  for_each_lane(a, b, result, count, [&](auto x, auto y) {
    const auto value = apply(op, x, y);
    defined = defined && value.has_value();
    return value.value_or(0);
  });
  return defined;
}

bool KeyProgram::execute(Comparison op, const Instruction& instruction, std::size_t count) const {
  const std::int64_t* a = registers_[instruction.left];
  const std::int64_t* b = registers_[instruction.right];
  std::int64_t* result = instruction.result->data();
  const auto fill = [&](auto holds) { for_each_lane(a, b, result, count, holds); };
  switch (op) {
    case Comparison::equal: fill(std::equal_to<>()); break;
    case Comparison::not_equal: fill(std::not_equal_to<>()); break;
    case Comparison::less: fill(std::less<>()); break;
    case Comparison::less_equal: fill(std::less_equal<>()); break;
    case Comparison::greater: fill(std::greater<>()); break;
    case Comparison::greater_equal: fill(std::greater_equal<>()); break;
  }
  return true;
}

bool KeyProgram::execute(Connective op, const Instruction& instruction, std::size_t count) const {
  const std::int64_t* a = registers_[instruction.left];
  const std::int64_t* b = registers_[instruction.right];
  std::int64_t* result = instruction.result->data();
  const auto fill = [&](auto holds) { for_each_lane(a, b, result, count, holds); };
  switch (op) {
    case Connective::both: fill([](auto x, auto y) { return x & y; }); break;
    case Connective::either: fill([](auto x, auto y) { return x | y; }); break;
    case Connective::neither: fill([](auto x, auto y) { return 1 - (x | y); }); break;
  }
  return true;
}

}  // namespace tessera
