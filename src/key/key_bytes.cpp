#include "key/key_bytes.h"

#include "base/check.h"

// A node is 0 and the number of one that came before, or else what it is, from 1, and its parts.

namespace tessera {
namespace {

enum class ExpressionForm : std::int64_t { again, constant, component, operation, opaque };
enum class PredicateForm : std::int64_t { again, truth, relation, junction, negation, opaque };

void put_form(PackedWriter& out, ExpressionForm form) {
  out.put_short(static_cast<std::int64_t>(form));
}
void put_form(PackedWriter& out, PredicateForm form) {
  out.put_short(static_cast<std::int64_t>(form));
}

/// Nodes are read by recursion, like all walks over them.
struct Deeper {
  Deeper(int& level, PackedReader& in) : depth(level) {
    ++depth;
    TESSERA_REQUIRE(IoError, depth <= maximum_expression_depth,
                    "{} is damaged: a key expression is nested {} levels deep", in.what(), depth);
  }
  ~Deeper() { --depth; }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;
  int& depth;
};

}  // namespace

template <class Node, class Table>
bool KeyWriter::again(const Node& node, const Table& table) {
  const auto [known, added] = numbers_.try_emplace(&node, std::ssize(table));
  if (added) return false;
  out_.put_short(0).put_short(known->second);
  return true;
}

template <class Opaque>
void KeyWriter::put_opaque(const Opaque& opaque, std::vector<Opaque>& known) {
  const auto [number, added] = numbers_.try_emplace(opaque.function.get(), std::ssize(known));
  if (added) {
    TESSERA_REQUIRE(PlanError, !sealed_,
                    "the C++ function \"{}\" cannot be written: it was added after the plan that "
                    "the reader knows",
                    opaque.name);
    known.push_back({opaque.name, opaque.function, std::nullopt});
  }
  out_.put_short(number->second).put(opaque.name);
  out_.put_short(opaque.arguments ? std::ssize(*opaque.arguments) : -1);
  if (opaque.arguments)
    for (const KeyExpr& argument : *opaque.arguments) put(argument);
}

void KeyWriter::put(const KeyExpr& expression) {
  if (again(expression.node(), tables_.expressions)) return;
  // Its number is taken before those of its parts: the reader counts likewise.
  tables_.expressions.push_back(expression);
  put_node(expression);
}

void KeyWriter::put_node(const KeyExpr& expression) {
  using Node = KeyExpr::Node;
  std::visit(Match{[&](const Node::Constant& constant) {
                     put_form(out_, ExpressionForm::constant);
                     out_.put_short(constant.value);
                   },
                   [&](const Node::Component& component) {
                     put_form(out_, ExpressionForm::component);
                     out_.put_short(component.index);
                   },
                   [&](const Node::Operation& operation) {
                     put_form(out_, ExpressionForm::operation);
                     out_.put_short(static_cast<std::int64_t>(operation.op));
                     put(operation.left);
                     put(operation.right);
                   },
                   [&](const Node::Opaque& opaque) {
                     put_form(out_, ExpressionForm::opaque);
                     put_opaque(opaque, tables_.functions);
                   }},
             expression.node().form);
}

void KeyWriter::put(const KeyPredicate& predicate) {
  if (again(predicate.node(), tables_.predicates)) return;
  tables_.predicates.push_back(predicate);
  put_node(predicate);
}

void KeyWriter::put_node(const KeyPredicate& predicate) {
  using Node = KeyPredicate::Node;
  std::visit(Match{[&](const Node::Truth& truth) {
                     put_form(out_, PredicateForm::truth);
                     out_.put_short(truth.value);
                   },
                   [&](const Node::Relation& relation) {
                     put_form(out_, PredicateForm::relation);
                     out_.put_short(static_cast<std::int64_t>(relation.op));
                     put(relation.left);
                     put(relation.right);
                   },
                   [&](const Node::Junction& junction) {
                     put_form(out_, PredicateForm::junction);
                     out_.put_short(junction.conjunction);
                     put(junction.left);
                     put(junction.right);
                   },
                   [&](const Node::Negation& negation) {
                     put_form(out_, PredicateForm::negation);
                     put(negation.operand);
                   },
                   [&](const Node::Opaque& opaque) {
                     put_form(out_, PredicateForm::opaque);
                     put_opaque(opaque, tables_.conditions);
                   }},
             predicate.node().form);
}

void KeyWriter::put(const KeyFunction& function) {
  out_.put_short(std::ssize(function.components()));
  for (const KeyExpr& component : function.components()) put(component);
}

template <class Opaque>
Opaque KeyReader::opaque(const std::vector<Opaque>& known) {
  const std::int64_t number = in_.short_integer();
  const std::string name = in_.text();
  TESSERA_REQUIRE(PlanError, number >= 0 && number < std::ssize(known),
                  "the plan uses the C++ function \"{}\", which cannot be read: only the program "
                  "that wrote it knows it",
                  name);
  Opaque result = known[static_cast<std::size_t>(number)];
  const std::int64_t arguments = in_.short_integer();
  if (arguments < 0) return result;
  result.arguments.emplace();
  for (std::int64_t i = 0; i < arguments; ++i) result.arguments->push_back(expression());
  return result;
}

KeyExpr KeyReader::expression() {
  const Deeper deeper(depth_, in_);
  const std::int64_t form = in_.short_below(5);
  if (form == 0)
    return tables_
        .expressions[static_cast<std::size_t>(in_.short_below(std::ssize(tables_.expressions)))];
  const std::size_t number = tables_.expressions.size();
  tables_.expressions.emplace_back(0);  // until it is read
  KeyExpr read = new_expression(form);
  tables_.expressions[number] = read;
  return read;
}

KeyExpr KeyReader::new_expression(std::int64_t form) {
  switch (static_cast<ExpressionForm>(form)) {
    case ExpressionForm::constant: return {in_.short_integer()};
    case ExpressionForm::component: return key(static_cast<int>(in_.short_below(Key::capacity)));
    case ExpressionForm::operation: {
      const auto op = static_cast<Arithmetic>(in_.short_below(5));
      const KeyExpr left = expression();
      return make_operation(op, left, expression());
    }
    default: return make_opaque(opaque(tables_.functions));
  }
}

KeyPredicate KeyReader::predicate() {
  const Deeper deeper(depth_, in_);
  const std::int64_t form = in_.short_below(6);
  if (form == 0)
    return tables_
        .predicates[static_cast<std::size_t>(in_.short_below(std::ssize(tables_.predicates)))];
  const std::size_t number = tables_.predicates.size();
  tables_.predicates.push_back(KeyPredicate::always());  // until it is read
  KeyPredicate read = new_predicate(form);
  tables_.predicates[number] = read;
  return read;
}

KeyPredicate KeyReader::new_predicate(std::int64_t form) {
  switch (static_cast<PredicateForm>(form)) {
    case PredicateForm::truth: return make_truth(in_.short_below(2) != 0);
    case PredicateForm::relation: {
      const auto op = static_cast<Comparison>(in_.short_below(6));
      const KeyExpr left = expression();
      return make_relation(op, left, expression());
    }
    case PredicateForm::junction: {
      const bool conjunction = in_.short_below(2) != 0;
      const KeyPredicate left = predicate(), right = predicate();
      return conjunction ? left && right : left || right;
    }
    case PredicateForm::negation: return !predicate();
    default: return make_opaque(opaque(tables_.conditions));
  }
}

KeyFunction KeyReader::function() {
  std::vector<KeyExpr> components(in_.short_count(), KeyExpr(0));
  for (KeyExpr& component : components) component = expression();
  return KeyFunction(std::move(components));
}

}  // namespace tessera
