#include <algorithm>
#include <set>
#include <utility>

#include "key/expression.h"

namespace tessera {
namespace {

/// Structural equality. A tree is equal to itself, and a pair of trees found equal is not compared
/// again: composed functions share their parts, and written out as trees they may be huge.
class Equality {
 public:
  bool operator()(const KeyExpr& a, const KeyExpr& b) {
    const auto pair = std::pair(&a.node(), &b.node());
    if (pair.first == pair.second || equal_.contains(pair)) return true;
    const bool result = same_form(a, b);
    if (result) equal_.insert(pair);
    return result;
  }
  bool operator()(const KeyPredicate& a, const KeyPredicate& b) {
    return &a.node() == &b.node() || same_form(a, b);
  }

 private:
  using Expr = KeyExpr::Node;
  using Predicate = KeyPredicate::Node;

  template <class Class>
  bool same_form(const Class& a, const Class& b) {
    return std::visit([&](const auto& x, const auto& y) { return same(x, y); }, a.node().form,
                      b.node().form);
  }

  static bool same(const Expr::Constant& a, const Expr::Constant& b) { return a.value == b.value; }
  static bool same(const Expr::Component& a, const Expr::Component& b) {
    return a.index == b.index;
  }
  bool same(const Expr::Operation& a, const Expr::Operation& b) {
    return a.op == b.op && (*this)(a.left, b.left) && (*this)(a.right, b.right);
  }
  bool same(const Expr::Opaque& a, const Expr::Opaque& b) { return same_opaque(a, b); }
  static bool same(const Predicate::Truth& a, const Predicate::Truth& b) {
    return a.value == b.value;
  }
  bool same(const Predicate::Relation& a, const Predicate::Relation& b) {
    return a.op == b.op && (*this)(a.left, b.left) && (*this)(a.right, b.right);
  }
  bool same(const Predicate::Junction& a, const Predicate::Junction& b) {
    return a.conjunction == b.conjunction && (*this)(a.left, b.left) && (*this)(a.right, b.right);
  }
  bool same(const Predicate::Negation& a, const Predicate::Negation& b) {
    return (*this)(a.operand, b.operand);
  }
  bool same(const Predicate::Opaque& a, const Predicate::Opaque& b) { return same_opaque(a, b); }
  template <class A, class B>
  static bool same(const A&, const B&) {
    return false;
  }

  template <class Opaque>
  bool same_opaque(const Opaque& a, const Opaque& b) {
    if (a.function != b.function || a.arguments.has_value() != b.arguments.has_value())
      return false;
    return !a.arguments || std::equal(a.arguments->begin(), a.arguments->end(),
                                      b.arguments->begin(), b.arguments->end(), std::ref(*this));
  }

  std::set<std::pair<const Expr*, const Expr*>> equal_;
};

}  // namespace

bool equal(const KeyExpr& a, const KeyExpr& b) { return Equality()(a, b); }

bool equal(const KeyPredicate& a, const KeyPredicate& b) { return Equality()(a, b); }

}  // namespace tessera
