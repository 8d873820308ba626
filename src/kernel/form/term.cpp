#include "kernel/form/term.h"

#include "base/check.h"

namespace tessera {
namespace {

template <class Node>
Term make(Node node) {
  return std::make_shared<const TermNode>(TermNode{std::move(node)});
}

void collect_free(const Term& of, std::set<int>& folded, std::set<int>& free) {
  if (const auto* read = as<term::Position>(of)) {
    if (!folded.contains(read->index)) free.insert(read->index);
    return;
  }
  std::vector<int> added;
  if (const auto* inner = as<term::Fold>(of))
    for (int index : inner->indices)
      if (folded.insert(index).second) added.push_back(index);
  for (const Term& part : parts_of(of)) collect_free(part, folded, free);
  for (int index : added) folded.erase(index);
}

/// Compares a term with another one of the same kind.
struct SameButForParts {
  const TermNode& other;

  template <class Node>
  const Node& of_other(const Node&) const {
    return std::get<Node>(other.node);
  }
  bool operator()(const term::Number& node) const { return node.value == of_other(node).value; }
  bool operator()(const term::Position& node) const { return node.index == of_other(node).index; }
  bool operator()(const term::Element& node) const {
    return node.argument == of_other(node).argument;
  }
  bool operator()(const term::Applied& node) const {
    return node.function == of_other(node).function;
  }
  bool operator()(const term::Cast& node) const { return node.dtype == of_other(node).dtype; }
  bool operator()(const term::Choice&) const { return true; }
  bool operator()(const term::Fold& node) const {
    return node.monoid == of_other(node).monoid && node.indices == of_other(node).indices;
  }
};

}  // namespace

Term number(Scalar value) { return make(term::Number{value}); }
Term integer(std::int64_t value) { return number(Scalar(value)); }
Term position(int index) { return make(term::Position{index}); }
Term element(int argument, std::vector<Term> at) {
  return make(term::Element{argument, std::move(at)});
}
Term element_at(int argument, const std::vector<int>& indices) {
  std::vector<Term> at;
  for (int index : indices) at.push_back(position(index));
  return element(argument, std::move(at));
}
Term applied(std::string_view name, std::vector<Term> arguments) {
  const ScalarFunction* function = scalar_function(name);
  TESSERA_INVARIANT(function != nullptr && std::cmp_equal(function->arguments, arguments.size()),
                    "function {} of {} arguments", name, arguments.size());
  return make(term::Applied{function, std::move(arguments)});
}
Term cast(DType dtype, Term value) { return make(term::Cast{dtype, std::move(value)}); }
Term choice(Term condition, Term yes, Term no) {
  return make(term::Choice{std::move(condition), std::move(yes), std::move(no)});
}
Term fold(Monoid monoid, std::vector<int> indices, Term value, Term condition) {
  return make(term::Fold{monoid, std::move(indices), std::move(value), std::move(condition)});
}

std::vector<Term> parts_of(const Term& of) {
  struct Parts {
    std::vector<Term> operator()(const term::Number&) const { return {}; }
    std::vector<Term> operator()(const term::Position&) const { return {}; }
    std::vector<Term> operator()(const term::Element& node) const { return node.at; }
    std::vector<Term> operator()(const term::Applied& node) const { return node.arguments; }
    std::vector<Term> operator()(const term::Cast& node) const { return {node.value}; }
    std::vector<Term> operator()(const term::Choice& node) const {
      return {node.condition, node.yes, node.no};
    }
    std::vector<Term> operator()(const term::Fold& node) const {
      if (node.condition == nullptr) return {node.value};
      return {node.value, node.condition};
    }
  };
  return std::visit(Parts(), of->node);
}

Term with_parts(const Term& of, const std::vector<Term>& parts) {
  struct Rebuilt {
    const Term& of;
    const std::vector<Term>& parts;
    Term operator()(const term::Number&) const { return of; }
    Term operator()(const term::Position&) const { return of; }
    Term operator()(const term::Element& node) const { return element(node.argument, parts); }
    Term operator()(const term::Applied& node) const {
      return make(term::Applied{node.function, parts});
    }
    Term operator()(const term::Cast& node) const { return cast(node.dtype, parts[0]); }
    Term operator()(const term::Choice&) const { return choice(parts[0], parts[1], parts[2]); }
    Term operator()(const term::Fold& node) const {
      return fold(node.monoid, node.indices, parts[0], parts.size() > 1 ? parts[1] : nullptr);
    }
  };
  return std::visit(Rebuilt{of, parts}, of->node);
}

bool same(const Term& a, const Term& b) {
  if (a == b) return true;
  if (a->node.index() != b->node.index()) return false;
  if (!std::visit(SameButForParts{*b}, a->node)) return false;
  const std::vector<Term> of_a = parts_of(a), of_b = parts_of(b);
  return std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(), same);
}

std::set<int> free_indices(const Term& of) {
  std::set<int> folded, free;
  collect_free(of, folded, free);
  return free;
}

}  // namespace tessera
