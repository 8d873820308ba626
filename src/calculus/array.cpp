#include "calculus/array.h"

#include "base/check.h"

namespace tessera::calculus {

TypedForm typed_of(const Definition& definition) {
  std::vector<TileType> types;
  for (const Array& argument : definition.arguments) types.push_back(argument.type);
  return typed(definition.form, types);
}

Array given(int source, const TileType& type) { return {type, source}; }

Array defined(IndexForm form, std::vector<Array> arguments) {
  Definition definition{std::move(form), std::move(arguments)};
  const TileType type = typed_of(definition).result;
  return {type, -1, std::make_shared<const Definition>(std::move(definition))};
}

namespace {

/// The indices and arguments of a part in new numbers, in the order in which they are met.
class Extraction {
 public:
  Extraction(const TypedForm& form, const std::vector<Array>& arguments)
      : form_(form), arguments_(arguments) {}

  Array of(const Term& part, const std::vector<int>& result) {
    made_.rank = static_cast<int>(result.size());
    for (int index : result) (void)number_of(index);
    made_.value = visited(part);
    return defined(std::move(made_), std::move(read_));
  }

 private:
  int number_of(int index) {
    const auto [known, added] = indices_.emplace(index, static_cast<int>(made_.indices.size()));
    if (added)
      made_.indices.push_back({form_.form.indices[static_cast<std::size_t>(index)].name,
                               form_.extents[static_cast<std::size_t>(index)]});
    return known->second;
  }
  int argument_of(int argument) {
    const auto [known, added] = numbers_.emplace(argument, static_cast<int>(read_.size()));
    if (added) read_.push_back(arguments_[static_cast<std::size_t>(argument)]);
    return known->second;
  }
  Term visited(const Term& term) {
    if (const auto* index = as<term::Position>(term)) return position(number_of(index->index));
    std::vector<Term> parts;
    if (const auto* folded = as<term::Fold>(term)) {
      std::vector<int> own;
      for (int index : folded->indices) own.push_back(number_of(index));
      for (const Term& part : parts_of(term)) parts.push_back(visited(part));
      return fold(folded->monoid, std::move(own), parts[0], parts.size() > 1 ? parts[1] : nullptr);
    }
    for (const Term& part : parts_of(term)) parts.push_back(visited(part));
    const auto* read = as<term::Element>(term);
    return read != nullptr ? element(argument_of(read->argument), std::move(parts))
                           : with_parts(term, parts);
  }

  const TypedForm& form_;
  const std::vector<Array>& arguments_;
  IndexForm made_;
  std::vector<Array> read_;
  std::map<int, int> indices_, numbers_;  // by those in the form
};

}  // namespace

Array part_of(const TypedForm& form, const Term& part, const std::vector<int>& result,
              const std::vector<Array>& arguments) {
  return Extraction(form, arguments).of(part, result);
}

Tile evaluate(const Array& array, std::span<const Tile> sources) {
  if (array.definition == nullptr) return sources[static_cast<std::size_t>(array.source)];
  std::vector<Tile> tiles;
  std::vector<TileType> types;
  for (const Array& argument : array.definition->arguments) {
    tiles.push_back(evaluate(argument, sources));
    types.push_back(tiles.back().type());
  }
  return interpret(typed(array.definition->form, types), tiles);
}

Term substituted(const Term& term, const std::map<int, Term>& indices) {
  if (const auto* read = as<term::Position>(term)) {
    const auto found = indices.find(read->index);
    return found == indices.end() ? term : found->second;
  }
  const std::vector<Term> parts = parts_of(term);
  std::vector<Term> changed;
  bool same_parts = true;
  for (const Term& part : parts) {
    changed.push_back(substituted(part, indices));
    same_parts = same_parts && changed.back() == part;
  }
  return same_parts ? term : with_parts(term, changed);
}

Term renumbered(const Term& term, const std::map<int, int>& indices) {
  if (const auto* read = as<term::Position>(term)) return position(indices.at(read->index));
  std::vector<Term> parts;
  for (const Term& part : parts_of(term)) parts.push_back(renumbered(part, indices));
  const auto* folded = as<term::Fold>(term);
  if (folded == nullptr) return with_parts(term, parts);
  std::vector<int> own;
  for (int index : folded->indices) own.push_back(indices.at(index));
  return fold(folded->monoid, std::move(own), parts[0], parts.size() > 1 ? parts[1] : nullptr);
}

}  // namespace tessera::calculus
