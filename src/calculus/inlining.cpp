#include "calculus/inlining.h"

#include <algorithm>

namespace tessera::calculus {
namespace {

bool is_same(const Array& a, const Array& b) {
  return a.source == b.source && a.definition == b.definition;
}

class Inlining {
 public:
  Inlining(const Definition& definition, int argument)
      : from_(definition), inlined_(argument), inner_(typed_of(*of(definition, argument))) {
    const TypedForm outer = typed_of(definition);
    made_.form = outer.form;
    for (std::size_t i = 0; i < outer.extents.size(); ++i)
      set_extent(made_.form.indices[i], outer.extents[i]);
  }

  Definition run() && {
    made_.form.value = visited(from_.form.value);
    return std::move(made_);
  }

 private:
  static const Definition* of(const Definition& definition, int argument) {
    return definition.arguments[static_cast<std::size_t>(argument)].definition.get();
  }
  static void set_extent(IndexForm::Index& index, std::int64_t extent) {
    index.extent = extent;
    index.like = std::nullopt;
  }

  int argument_of(const Array& array) {
    for (std::size_t a = 0; a < made_.arguments.size(); ++a)
      if (is_same(made_.arguments[a], array)) return static_cast<int>(a);
    made_.arguments.push_back(array);
    return static_cast<int>(made_.arguments.size()) - 1;
  }

  Term visited(const Term& term) {
    const auto* read = as<term::Element>(term);
    std::vector<Term> parts;
    for (const Term& part : parts_of(term)) parts.push_back(visited(part));
    if (read == nullptr) return parts.empty() ? term : with_parts(term, parts);
    if (read->argument == inlined_) return what_it_is(parts);
    return element(argument_of(from_.arguments[static_cast<std::size_t>(read->argument)]),
                   std::move(parts));
  }

  /// An element of the inlined argument, with indices of its own for each of its folds.
  Term what_it_is(const std::vector<Term>& at) {
    for (const auto& [known, made] : made_already_)
      if (std::equal(at.begin(), at.end(), known.begin(), known.end(), same)) return made;
    const IndexForm& form = inner_.form;
    std::map<int, Term> indices;
    std::map<int, int> bound;
    for (int index = 0; std::cmp_less(index, form.indices.size()); ++index) {
      if (index < form.rank) {
        indices.emplace(index, at[static_cast<std::size_t>(index)]);
        continue;
      }
      bound.emplace(index, static_cast<int>(made_.form.indices.size()));
      IndexForm::Index own = form.indices[static_cast<std::size_t>(index)];
      own.name = unused_name(own.name);
      set_extent(own, inner_.extents[static_cast<std::size_t>(index)]);
      made_.form.indices.push_back(std::move(own));
    }
    const Term made = instance(form.value, indices, bound);
    made_already_.emplace_back(at, made);
    return made;
  }

  std::string unused_name(const std::string& wanted) const {
    const auto taken = [&](const std::string& name) {
      return std::any_of(made_.form.indices.begin(), made_.form.indices.end(),
                         [&](const IndexForm::Index& index) { return index.name == name; });
    };
    std::string name = wanted;
    for (int n = 2; taken(name); ++n) name = wanted + std::to_string(n);
    return name;
  }

  Term instance(const Term& term, const std::map<int, Term>& indices,
                const std::map<int, int>& bound) {
    if (const auto* index = as<term::Position>(term)) {
      const auto own = bound.find(index->index);
      return own != bound.end() ? position(own->second) : indices.at(index->index);
    }
    std::vector<Term> parts;
    for (const Term& part : parts_of(term)) parts.push_back(instance(part, indices, bound));
    if (const auto* read = as<term::Element>(term))
      return element(
          argument_of(of(from_, inlined_)->arguments[static_cast<std::size_t>(read->argument)]),
          std::move(parts));
    const auto* folded = as<term::Fold>(term);
    if (folded == nullptr) return parts.empty() ? term : with_parts(term, parts);
    std::vector<int> own;
    for (int index : folded->indices) own.push_back(bound.at(index));
    return fold(folded->monoid, std::move(own), parts[0], parts.size() > 1 ? parts[1] : nullptr);
  }

  const Definition& from_;
  const int inlined_;
  const TypedForm inner_;
  Definition made_;
  std::vector<std::pair<std::vector<Term>, Term>> made_already_;
};

void count_uses(const Array& array, std::map<const Definition*, int>& uses) {
  if (array.definition == nullptr || ++uses[array.definition.get()] > 1) return;
  for (const Array& argument : array.definition->arguments) count_uses(argument, uses);
}

}  // namespace

Definition with_inlined(const Definition& definition, int argument) {
  return Inlining(definition, argument).run();
}

std::map<const Definition*, int> uses_in(const Array& array) {
  std::map<const Definition*, int> uses;
  count_uses(array, uses);
  return uses;
}

bool is_dense(const Array& array) {
  if (array.definition == nullptr) return !array.type.is_sparse();
  const std::vector<Array>& arguments = array.definition->arguments;
  return std::all_of(arguments.begin(), arguments.end(), is_dense);
}

int operations_in(const Term& term) {
  const bool counts = as<term::Applied>(term) != nullptr || as<term::Fold>(term) != nullptr ||
                      as<term::Choice>(term) != nullptr || as<term::Cast>(term) != nullptr;
  int operations = counts ? 1 : 0;
  for (const Term& part : parts_of(term)) operations += operations_in(part);
  return operations;
}

bool has_fold(const Term& term) {
  if (as<term::Fold>(term) != nullptr) return true;
  const std::vector<Term> parts = parts_of(term);
  return std::any_of(parts.begin(), parts.end(), has_fold);
}

}  // namespace tessera::calculus
