#include <fmt/format.h>

#include <unordered_map>

#include "base/check.h"
#include "key/expression.h"

namespace tessera {
namespace {

/// Replaces the components of an expression. A subtree that occurs several times is rewritten
/// once and stays shared: a chain of rekeys grows by what each adds, not by doubling.
class Substitution {
 public:
  explicit Substitution(const std::vector<KeyExpr>& components) : components_(components) {}

  KeyExpr operator()(const KeyExpr& expr) {
    if (expr.arity() == 0 && !expr.is_opaque()) return expr;
    const auto known = rewritten_.find(&expr.node());
    if (known != rewritten_.end()) return known->second;
    KeyExpr result =
        std::visit([&](const auto& form) { return rewrite(expr, form); }, expr.node().form);
    rewritten_.emplace(&expr.node(), result);
    return result;
  }

  KeyPredicate operator()(const KeyPredicate& predicate) {
    return std::visit([&](const auto& form) { return rewrite(predicate, form); },
                      predicate.node().form);
  }

 private:
  using Expr = KeyExpr::Node;
  using Predicate = KeyPredicate::Node;

  static KeyExpr rewrite(const KeyExpr& expr, const Expr::Constant&) { return expr; }
  KeyExpr rewrite(const KeyExpr&, const Expr::Component& component) {
    TESSERA_REQUIRE(TypeError, static_cast<std::size_t>(component.index) < components_.size(),
                    "k{} is used, but only {} components are given", component.index,
                    components_.size());
    return components_[component.index];
  }
  KeyExpr rewrite(const KeyExpr&, const Expr::Operation& operation) {
    const KeyExpr left = (*this)(operation.left);
    return make_operation(operation.op, left, (*this)(operation.right));
  }
  KeyExpr rewrite(const KeyExpr&, const Expr::Opaque& opaque) {
    return make_opaque(Expr::Opaque{opaque.name, opaque.function, arguments(opaque.arguments)});
  }

  static KeyPredicate rewrite(const KeyPredicate& predicate, const Predicate::Truth&) {
    return predicate;
  }
  KeyPredicate rewrite(const KeyPredicate&, const Predicate::Relation& relation) {
    const KeyExpr left = (*this)(relation.left);
    return make_relation(relation.op, left, (*this)(relation.right));
  }
  KeyPredicate rewrite(const KeyPredicate&, const Predicate::Junction& junction) {
    const KeyPredicate left = (*this)(junction.left);
    const KeyPredicate right = (*this)(junction.right);
    return junction.conjunction ? left && right : left || right;
  }
  KeyPredicate rewrite(const KeyPredicate&, const Predicate::Negation& negation) {
    return !(*this)(negation.operand);
  }
  KeyPredicate rewrite(const KeyPredicate&, const Predicate::Opaque& opaque) {
    return make_opaque(
        Predicate::Opaque{opaque.name, opaque.function, arguments(opaque.arguments)});
  }

  std::vector<KeyExpr> arguments(const std::optional<std::vector<KeyExpr>>& old) {
    if (!old) return components_;
    std::vector<KeyExpr> result;
    for (const KeyExpr& argument : *old) result.push_back((*this)(argument));
    return result;
  }

  const std::vector<KeyExpr>& components_;
  std::unordered_map<const Expr*, KeyExpr> rewritten_;
};

}  // namespace

KeyExpr KeyExpr::substitute(const std::vector<KeyExpr>& components) const {
  return Substitution(components)(*this);
}

KeyPredicate KeyPredicate::substitute(const std::vector<KeyExpr>& components) const {
  return Substitution(components)(*this);
}

}  // namespace tessera
