#include "calculus/array.h"

#include "base/check.h"

namespace tessera::calculus {

Array given(int source, const TileType& type) { return {type, source}; }

Array defined(IndexForm form, std::vector<Array> arguments) {
  std::vector<TileType> types;
  for (const Array& argument : arguments) types.push_back(argument.type);
  const TileType type = typed(form, types).result;
  return {type, -1,
          std::make_shared<const Definition>(Definition{std::move(form), std::move(arguments)})};
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
