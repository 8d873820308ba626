#include "tra/absent_shapes.h"

#include <algorithm>
#include <map>
#include <optional>

namespace tessera {
namespace {

/// Extents that follow from one key component.
struct Rule {
  int component = 0;
  std::map<std::int64_t, std::int64_t> extents = {};
};

std::optional<Rule> rule_for(const std::vector<Tuple>& tuples, int component, int column, int d) {
  Rule rule{component};
  for (const Tuple& tuple : tuples) {
    const std::int64_t extent = tuple.tiles[column].shape()[d];
    const auto [place, added] = rule.extents.emplace(tuple.key[component], extent);
    if (!added && place->second != extent) return std::nullopt;
  }
  return rule;
}

std::optional<Rule> find_rule(const RelationType& type, const std::vector<Tuple>& tuples,
                              int column, int d) {
  const bool uniform = std::all_of(tuples.begin(), tuples.end(), [&](const Tuple& tuple) {
    return tuple.tiles[column].shape()[d] == type.columns[column].type.shape[d];
  });
  if (uniform) return std::nullopt;
  // Component d first: that is the one in a tensor cut into tiles.
  if (d < type.arity())
    if (auto rule = rule_for(tuples, d, column, d)) return rule;
  for (int i = 0; i < type.arity(); ++i)
    if (auto rule = rule_for(tuples, i, column, d)) return rule;
  return std::nullopt;
}

}  // namespace

TypesAt guess_absent_types(const RelationType& type, const std::vector<Tuple>& tuples) {
  std::vector<std::vector<std::optional<Rule>>> rules(type.columns.size());
  for (std::size_t c = 0; c < rules.size(); ++c)
    for (int d = 0; d < type.columns[c].type.shape.rank(); ++d)
      rules[c].push_back(find_rule(type, tuples, static_cast<int>(c), d));
  return [columns = type.columns, rules = std::move(rules)](const Key& key) {
    std::vector<TileType> types;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      types.push_back(columns[c].type);
      for (std::size_t d = 0; d < rules[c].size(); ++d) {
        if (!rules[c][d]) continue;
        const auto found = rules[c][d]->extents.find(key[rules[c][d]->component]);
        if (found != rules[c][d]->extents.end()) types[c].shape[d] = found->second;
      }
    }
    return types;
  };
}

}  // namespace tessera
