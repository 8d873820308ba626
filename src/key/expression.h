#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tessera/key.h"

namespace tessera {

/// The law of arithmetic on keys, in one place for the evaluator, the compiled programs and the
/// interval analysis: div rounds towards minus infinity, mod has the sign of its divisor, so that
///   a = (a div b) * b + a mod b.
enum class Arithmetic { add, subtract, multiply, divide, modulo };

/// Floor division and remainder where they are defined: b is not 0, and not a = -2^63 with b = -1.
constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  const std::int64_t quotient = a / b;
  return quotient - ((a % b != 0) && ((a < 0) != (b < 0)));
}
constexpr std::int64_t floor_mod(std::int64_t a, std::int64_t b) {
  const std::int64_t remainder = a % b;
  return remainder != 0 && ((remainder < 0) != (b < 0)) ? remainder + b : remainder;
}

/// Nothing on overflow and on division by zero.
std::optional<std::int64_t> apply(Arithmetic op, std::int64_t a, std::int64_t b);

struct KeyExpr::Node {
  struct Constant {
    std::int64_t value;
  };
  struct Component {
    int index;
  };
  /// A unary minus is a subtraction from 0.
  struct Operation {
    Arithmetic op;
    KeyExpr left, right;
  };
  using Function = std::function<std::int64_t(const Key&)>;
  /// Applied to the key itself, or, once substituted into, to the key of its arguments.
  struct Opaque {
    std::string name;
    std::shared_ptr<const Function> function;
    std::optional<std::vector<KeyExpr>> arguments;
  };

  std::variant<Constant, Component, Operation, Opaque> form;
  int arity = 0;
  bool opaque = false;
  int depth = 1;
  double parts = 1;  // of the tree written out; what is shared counts each time
};

enum class Comparison { equal, not_equal, less, less_equal, greater, greater_equal };

constexpr bool compare(Comparison op, std::int64_t a, std::int64_t b) {
  switch (op) {
    case Comparison::equal: return a == b;
    case Comparison::not_equal: return a != b;
    case Comparison::less: return a < b;
    case Comparison::less_equal: return a <= b;
    case Comparison::greater: return a > b;
    case Comparison::greater_equal: return a >= b;
  }
  return false;
}

struct KeyPredicate::Node {
  struct Truth {
    bool value;
  };
  struct Relation {
    Comparison op;
    KeyExpr left, right;
  };
  /// Evaluated from left to right, and only as far as needed: `k1 != 0 and k0 div k1 = 2` never
  /// divides by zero. `conjunction` tells and from or.
  struct Junction {
    bool conjunction;
    KeyPredicate left, right;
  };
  struct Negation {
    KeyPredicate operand;
  };
  using Function = std::function<bool(const Key&)>;
  struct Opaque {
    std::string name;
    std::shared_ptr<const Function> function;
    std::optional<std::vector<KeyExpr>> arguments;
  };

  std::variant<Truth, Relation, Junction, Negation, Opaque> form;
  int arity = 0;
  bool opaque = false;
  int depth = 1;
  double parts = 1;
};

/// Expressions are walked by recursion; this is what a thread's stack is sure to bear.
inline constexpr int maximum_expression_depth = 2'000;

KeyExpr make_operation(Arithmetic op, const KeyExpr& left, const KeyExpr& right);
KeyPredicate make_relation(Comparison op, const KeyExpr& left, const KeyExpr& right);
KeyExpr make_opaque(KeyExpr::Node::Opaque opaque);
KeyPredicate make_opaque(KeyPredicate::Node::Opaque opaque);
KeyPredicate make_truth(bool value);

/// Whether the predicate is literally `true`.
bool is_always(const KeyPredicate& predicate);
/// The parts of a conjunction, from left to right; of any other predicate, itself.
std::vector<KeyPredicate> conjuncts(const KeyPredicate& predicate);
/// Whether the function is <k0, ..., k(arity-1)>.
bool is_identity(const KeyFunction& function, std::size_t arity);

template <class... Cases>
struct Match : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Match(Cases...) -> Match<Cases...>;

}  // namespace tessera
