#include "key/definedness.h"

#include <limits>
#include <unordered_set>

namespace tessera {
namespace {

using Condition = KeyQuery::Condition;

class Definedness {
 public:
  Definedness(KeyQuery& query, const KeyQuery::Point& point, const Bounds& box)
      : query_(query), point_(point), ranges_(box) {}

  Condition fails(const KeyExpr& expr) {
    std::vector<Condition> failures;
    std::unordered_set<const KeyExpr::Node*> visited;
    collect(expr, failures, visited);
    return query_.any(failures);
  }

  Condition fails(const KeyPredicate& predicate) {
    using Node = KeyPredicate::Node;
    return std::visit(Match{[&](const Node::Truth&) { return query_.any({}); },
                            [&](const Node::Relation& relation) {
                              const Condition left = fails(relation.left);
                              return query_.any({left, fails(relation.right)});
                            },
                            [&](const Node::Junction& junction) {
                              const Condition left = query_.holds(junction.left, point_);
                              const Condition reached =
                                  junction.conjunction ? left : query_.negation(left);
                              const Condition left_fails = fails(junction.left);
                              const Condition right_fails = fails(junction.right);
                              return query_.any({left_fails, query_.all({reached, right_fails})});
                            },
                            [&](const Node::Negation& negation) { return fails(negation.operand); },
                            [&](const Node::Opaque&) { return query_.all({}); }},
                      predicate.node().form);
  }

 private:
  /// The ways in which an expression can fail, each where the parts it is made of do not.
  void collect(const KeyExpr& expr, std::vector<Condition>& failures,
               std::unordered_set<const KeyExpr::Node*>& visited) {
    const auto* operation = std::get_if<KeyExpr::Node::Operation>(&expr.node().form);
    if (operation == nullptr || ranges_(expr) || !visited.insert(&expr.node()).second) return;
    collect(operation->left, failures, visited);
    collect(operation->right, failures, visited);
    if (operation->op == Arithmetic::divide || operation->op == Arithmetic::modulo)
      failures.push_back(query_.compare(Comparison::equal, query_.value(operation->right, point_),
                                        query_.constant(0)));
    const KeyQuery::Term value = query_.value(expr, point_);
    const auto least = query_.constant(std::numeric_limits<std::int64_t>::min());
    const auto greatest = query_.constant(std::numeric_limits<std::int64_t>::max());
    failures.push_back(query_.compare(Comparison::less, value, least));
    failures.push_back(query_.compare(Comparison::greater, value, greatest));
  }

  KeyQuery& query_;
  const KeyQuery::Point& point_;
  Ranges ranges_;
};

}  // namespace

Condition has_no_value(KeyQuery& query, const KeySet& keys, const KeyQuery::Point& point) {
  Bounds box;
  for (const std::int64_t extent : keys.extents) box.push_back({0, extent - 1});
  Definedness definedness(query, point, box);
  std::vector<Condition> map_fails;
  for (const KeyExpr& component : keys.map.components())
    map_fails.push_back(definedness.fails(component));
  const Condition passes = query.holds(keys.where, point);
  return query.any({definedness.fails(keys.where), query.all({passes, query.any(map_fails)})});
}

}  // namespace tessera
