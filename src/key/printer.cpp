#include <fmt/format.h>

#include <iterator>

#include "key/binding.h"
#include "key/expression.h"

namespace tessera {
namespace {

/// How tightly a form binds, loosest first; a part is parenthesised where it binds more loosely
/// than its place asks for. The parser's grammar is the same table read the other way.
bool is_minus(const KeyExpr::Node::Operation& operation) {
  const auto* left = std::get_if<KeyExpr::Node::Constant>(&operation.left.node().form);
  return operation.op == Arithmetic::subtract && left != nullptr && left->value == 0;
}

const char* spelling(Arithmetic op) {
  switch (op) {
    case Arithmetic::add: return " + ";
    case Arithmetic::subtract: return " - ";
    case Arithmetic::multiply: return "*";
    case Arithmetic::divide: return " div ";
    case Arithmetic::modulo: return " mod ";
  }
  return "";
}

const char* spelling(Comparison op) {
  switch (op) {
    case Comparison::equal: return " = ";
    case Comparison::not_equal: return " != ";
    case Comparison::less: return " < ";
    case Comparison::less_equal: return " <= ";
    case Comparison::greater: return " > ";
    case Comparison::greater_equal: return " >= ";
  }
  return "";
}

class Printer {
 public:
  template <class Class>
  void print(const Class& tree, KeyBinding place) {
    std::visit([&](const auto& form) { print_form(form, place); }, tree.node().form);
  }
  std::string take() { return std::move(text_); }

 private:
  using Expr = KeyExpr::Node;
  using Predicate = KeyPredicate::Node;

  void print_form(const Expr::Constant& constant, KeyBinding place) {
    const KeyBinding own = constant.value < 0 ? KeyBinding::sign : KeyBinding::atom;
    in_place(own, place, [&] { fmt::format_to(out(), "{}", constant.value); });
  }
  void print_form(const Expr::Component& component, KeyBinding) {
    fmt::format_to(out(), "k{}", component.index);
  }
  void print_form(const Expr::Operation& operation, KeyBinding place) {
    if (is_minus(operation)) return print_minus(operation, place);
    const bool additive = operation.op == Arithmetic::add || operation.op == Arithmetic::subtract;
    const KeyBinding own = additive ? KeyBinding::sum : KeyBinding::product;
    in_place(own, place, [&] {
      print(operation.left, own);
      text_ += spelling(operation.op);
      print(operation.right, tighter(own));
    });
  }
  /// `-5` reads as a constant, so that the minus of the constant 5 is `-(5)`.
  void print_minus(const Expr::Operation& operation, KeyBinding place) {
    const bool constant = std::holds_alternative<Expr::Constant>(operation.right.node().form);
    in_place(KeyBinding::sign, place, [&] {
      text_ += constant ? "-(" : "-";
      print(operation.right, constant ? KeyBinding::sum : KeyBinding::atom);
      if (constant) text_ += ")";
    });
  }
  template <class Opaque>
  void print_opaque(const Opaque& opaque) {
    text_ += opaque.name + "(";
    if (!opaque.arguments) text_ += "key";
    const char* separator = "";
    for (const KeyExpr& argument : opaque.arguments.value_or(std::vector<KeyExpr>{})) {
      text_ += separator;
      print(argument, KeyBinding::sum);
      separator = ", ";
    }
    text_ += ")";
  }
  void print_form(const Expr::Opaque& opaque, KeyBinding) { print_opaque(opaque); }

  void print_form(const Predicate::Truth& truth, KeyBinding) {
    text_ += truth.value ? "true" : "false";
  }
  void print_form(const Predicate::Relation& relation, KeyBinding place) {
    in_place(KeyBinding::comparison, place, [&] {
      print(relation.left, KeyBinding::sum);
      text_ += spelling(relation.op);
      print(relation.right, KeyBinding::sum);
    });
  }
  void print_form(const Predicate::Junction& junction, KeyBinding place) {
    const KeyBinding own = junction.conjunction ? KeyBinding::conjunction : KeyBinding::disjunction;
    in_place(own, place, [&] {
      print(junction.left, own);
      text_ += junction.conjunction ? " and " : " or ";
      print(junction.right, tighter(own));
    });
  }
  void print_form(const Predicate::Negation& negation, KeyBinding place) {
    in_place(KeyBinding::negation, place, [&] {
      text_ += "not ";
      print(negation.operand, KeyBinding::negation);
    });
  }
  void print_form(const Predicate::Opaque& opaque, KeyBinding) { print_opaque(opaque); }

  template <class Body>
  void in_place(KeyBinding own, KeyBinding place, const Body& body) {
    if (own < place) text_ += "(";
    body();
    if (own < place) text_ += ")";
  }
  std::back_insert_iterator<std::string> out() { return std::back_inserter(text_); }

  std::string text_;
};

template <class Class>
std::string printed(const Class& tree, KeyBinding place) {
  Printer printer;
  printer.print(tree, place);
  return printer.take();
}

}  // namespace

std::string KeyExpr::to_string() const { return printed(*this, KeyBinding::sum); }

std::string KeyPredicate::to_string() const { return printed(*this, KeyBinding::disjunction); }

}  // namespace tessera
