#include "key/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "base/check.h"

namespace tessera {
namespace {

using ExprNode = KeyExpr::Node;
using PredicateNode = KeyPredicate::Node;

/// A node over the parts it is made of: what is known of a tree is gathered as it is built, so
/// that asking costs nothing however deep the tree is.
template <class Node, class... Parts>
Node node_over(decltype(Node::form) form, const Parts&... parts) {
  Node node{.form = std::move(form)};
  const auto gather = [&node](const auto& part) {
    node.arity = std::max(node.arity, part.node().arity);
    node.opaque = node.opaque || part.node().opaque;
    node.depth = std::max(node.depth, part.node().depth + 1);
    node.parts += part.node().parts;
  };
  (gather(parts), ...);
  TESSERA_REQUIRE(TypeError, node.depth <= maximum_expression_depth,
                  "a key expression is nested more than {} levels deep; simplify it, or make it an "
                  "opaque function",
                  maximum_expression_depth);
  return node;
}

KeyExpr expression(ExprNode node) {
  return KeyExpr(std::make_shared<const ExprNode>(std::move(node)));
}
KeyPredicate predicate(PredicateNode node) {
  return KeyPredicate(std::make_shared<const PredicateNode>(std::move(node)));
}

/// An opaque node of either kind, applied to arguments where it has them.
template <class Node>
Node opaque_node(typename Node::Opaque opaque) {
  Node node{.form = typename Node::Opaque{}};
  if (opaque.arguments) {
    for (const KeyExpr& argument : *opaque.arguments) {
      node.arity = std::max(node.arity, argument.arity());
      node.depth = std::max(node.depth, argument.node().depth + 1);
      node.parts += argument.node().parts;
    }
  }
  node.opaque = true;
  node.form = std::move(opaque);
  return node;
}

Key evaluate_all(const std::vector<KeyExpr>& expressions, const Key& key) {
  Key result;
  for (const KeyExpr& expression : expressions) result.push_back(expression.evaluate(key));
  return result;
}

template <class Opaque>
auto call(const Opaque& opaque, const Key& key) {
  return (*opaque.function)(opaque.arguments ? evaluate_all(*opaque.arguments, key) : key);
}

/// Composed functions share their parts. Up to this many, computing a part each time it occurs is
/// faster than remembering it; and an expression of more is not printed in an error.
constexpr double many_parts = 1'000;

std::string in_short(const KeyExpr& expr) {
  return expr.node().parts <= many_parts ? expr.to_string() : "a long expression";
}

class Evaluation {
 public:
  Evaluation(const Key& key, const KeyExpr& whole) : key_(key), whole_(whole) {}

  std::int64_t operator()(const KeyExpr& expr) {
    if (expr.node().parts <= many_parts) return compute(expr);
    const auto known = computed_.find(&expr.node());
    if (known != computed_.end()) return known->second;
    const std::int64_t value = compute(expr);
    computed_.emplace(&expr.node(), value);
    return value;
  }

 private:
  std::int64_t compute(const KeyExpr& expr) {
    return std::visit(Match{[](const ExprNode::Constant& constant) { return constant.value; },
                            [&](const ExprNode::Component& component) {
                              if (static_cast<std::size_t>(component.index) >= key_.size())
                                beyond(component);
                              return key_[component.index];
                            },
                            [&](const ExprNode::Operation& operation) {
                              const std::int64_t left = (*this)(operation.left);
                              const std::int64_t right = (*this)(operation.right);
                              const auto result = apply(operation.op, left, right);
                              if (!result) fail(expr, operation.op, right);
                              return *result;
                            },
                            [&](const ExprNode::Opaque& opaque) { return call(opaque, key_); }},
                      expr.node().form);
  }

  [[noreturn]] void beyond(const ExprNode::Component& component) const {
    throw TypeError(
        fmt::format("{} at key {}: key component k{} does not exist: the key has {} components",
                    in_short(whole_), to_string(key_), component.index, key_.size()));
  }
  [[noreturn]] void fail(const KeyExpr& part, Arithmetic op, std::int64_t right) const {
    const bool divides = op == Arithmetic::divide || op == Arithmetic::modulo;
    throw ValueError(fmt::format("{} at key {}: {} {}", in_short(whole_), to_string(key_),
                                 in_short(part),
                                 divides && right == 0 ? "divides by zero" : "overflows 64 bits"));
  }

  const Key& key_;
  const KeyExpr& whole_;
  std::unordered_map<const ExprNode*, std::int64_t> computed_;
};

KeyPredicate junction(bool conjunction, const KeyPredicate& a, const KeyPredicate& b) {
  return predicate(node_over<PredicateNode>(PredicateNode::Junction{conjunction, a, b}, a, b));
}

}  // namespace

std::optional<std::int64_t> apply(Arithmetic op, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  switch (op) {
    case Arithmetic::add:
      if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
      return result;
    case Arithmetic::subtract:
      if (__builtin_sub_overflow(a, b, &result)) return std::nullopt;
      return result;
    case Arithmetic::multiply:
      if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
      return result;
    case Arithmetic::divide:
      if (b == 0 || (b == -1 && a == std::numeric_limits<std::int64_t>::min())) return std::nullopt;
      return floor_div(a, b);
    case Arithmetic::modulo:
      if (b == 0) return std::nullopt;
      return b == -1 ? 0 : floor_mod(a, b);
  }
  return std::nullopt;
}

KeyExpr::KeyExpr(std::int64_t constant)
    : node_(std::make_shared<const Node>(Node{.form = Node::Constant{constant}})) {}

KeyExpr KeyExpr::opaque(std::string name, std::function<std::int64_t(const Key&)> function) {
  return make_opaque(Node::Opaque{
      std::move(name), std::make_shared<const Node::Function>(std::move(function)), {}});
}

std::int64_t KeyExpr::evaluate(const Key& key) const { return Evaluation(key, *this)(*this); }
int KeyExpr::arity() const { return node_->arity; }
bool KeyExpr::is_opaque() const { return node_->opaque; }

KeyExpr make_opaque(ExprNode::Opaque opaque) {
  return expression(opaque_node<ExprNode>(std::move(opaque)));
}
KeyPredicate make_opaque(PredicateNode::Opaque opaque) {
  return predicate(opaque_node<PredicateNode>(std::move(opaque)));
}
KeyExpr make_operation(Arithmetic op, const KeyExpr& left, const KeyExpr& right) {
  return expression(node_over<ExprNode>(ExprNode::Operation{op, left, right}, left, right));
}

KeyExpr key(int component) {
  TESSERA_REQUIRE(TypeError, component >= 0 && component < static_cast<int>(Key::capacity),
                  "k{} does not exist: key components are k0 to k{}", component, Key::capacity - 1);
  return expression({.form = ExprNode::Component{component}, .arity = component + 1});
}
KeyExpr operator+(const KeyExpr& a, const KeyExpr& b) {
  return make_operation(Arithmetic::add, a, b);
}
KeyExpr operator-(const KeyExpr& a, const KeyExpr& b) {
  return make_operation(Arithmetic::subtract, a, b);
}
KeyExpr operator*(const KeyExpr& a, const KeyExpr& b) {
  return make_operation(Arithmetic::multiply, a, b);
}
KeyExpr operator/(const KeyExpr& a, const KeyExpr& b) {
  return make_operation(Arithmetic::divide, a, b);
}
KeyExpr operator%(const KeyExpr& a, const KeyExpr& b) {
  return make_operation(Arithmetic::modulo, a, b);
}

KeyPredicate KeyPredicate::always() { return make_truth(true); }

KeyPredicate KeyPredicate::opaque(std::string name, std::function<bool(const Key&)> function) {
  return make_opaque(Node::Opaque{
      std::move(name), std::make_shared<const Node::Function>(std::move(function)), {}});
}

bool KeyPredicate::evaluate(const Key& key) const {
  return std::visit(
      Match{[](const Node::Truth& truth) { return truth.value; },
            [&](const Node::Relation& relation) {
              return compare(relation.op, relation.left.evaluate(key),
                             relation.right.evaluate(key));
            },
            [&](const Node::Junction& junction) {
              return junction.left.evaluate(key) == junction.conjunction
                         ? junction.right.evaluate(key)
                         : !junction.conjunction;
            },
            [&](const Node::Negation& negation) { return !negation.operand.evaluate(key); },
            [&](const Node::Opaque& opaque) { return call(opaque, key); }},
      node_->form);
}
int KeyPredicate::arity() const { return node_->arity; }
bool KeyPredicate::is_opaque() const { return node_->opaque; }
KeyPredicate make_truth(bool value) { return predicate({.form = PredicateNode::Truth{value}}); }
KeyPredicate make_relation(Comparison op, const KeyExpr& left, const KeyExpr& right) {
  return predicate(node_over<PredicateNode>(PredicateNode::Relation{op, left, right}, left, right));
}
bool is_always(const KeyPredicate& predicate) {
  const auto* truth = std::get_if<PredicateNode::Truth>(&predicate.node().form);
  return truth != nullptr && truth->value;
}

std::vector<KeyPredicate> conjuncts(const KeyPredicate& predicate) {
  std::vector<KeyPredicate> open = {predicate}, result;
  while (!open.empty()) {
    const KeyPredicate next = open.back();
    open.pop_back();
    const auto* junction = std::get_if<PredicateNode::Junction>(&next.node().form);
    if (junction != nullptr && junction->conjunction) {
      open.push_back(junction->right);
      open.push_back(junction->left);
    } else {
      result.push_back(next);
    }
  }
  return result;
}

KeyPredicate operator==(const KeyExpr& a, const KeyExpr& b) {
  return make_relation(Comparison::equal, a, b);
}
KeyPredicate operator!=(const KeyExpr& a, const KeyExpr& b) {
  return make_relation(Comparison::not_equal, a, b);
}
KeyPredicate operator<(const KeyExpr& a, const KeyExpr& b) {
  return make_relation(Comparison::less, a, b);
}
KeyPredicate operator<=(const KeyExpr& a, const KeyExpr& b) {
  return make_relation(Comparison::less_equal, a, b);
}
KeyPredicate operator>(const KeyExpr& a, const KeyExpr& b) {
  return make_relation(Comparison::greater, a, b);
}
KeyPredicate operator>=(const KeyExpr& a, const KeyExpr& b) {
  return make_relation(Comparison::greater_equal, a, b);
}
KeyPredicate operator&&(const KeyPredicate& a, const KeyPredicate& b) {
  return junction(true, a, b);
}
KeyPredicate operator||(const KeyPredicate& a, const KeyPredicate& b) {
  return junction(false, a, b);
}
KeyPredicate operator!(const KeyPredicate& a) {
  return predicate(node_over<PredicateNode>(PredicateNode::Negation{a}, a));
}

}  // namespace tessera
