#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "key/expression.h"

namespace tessera {
namespace {

void require_components(int arity, const KeyFunction& map) {
  TESSERA_REQUIRE(TypeError, arity <= map.output_arity(),
                  "key component k{} does not exist: the keys have {} components", arity - 1,
                  map.output_arity());
}

}  // namespace

KeySet KeySet::box(const Key& extents) {
  TESSERA_REQUIRE(
      TypeError, std::all_of(extents.begin(), extents.end(), [](auto e) { return e >= 0; }),
      "a box of keys cannot have the extents {}: they must not be negative", to_string(extents));
  std::vector<KeyExpr> identity;
  for (std::size_t i = 0; i < extents.size(); ++i) identity.push_back(key(static_cast<int>(i)));
  return {.extents = extents, .map = KeyFunction(std::move(identity))};
}

KeySet KeySet::filter(const KeyPredicate& predicate) const {
  require_components(predicate.arity(), map);
  const KeyPredicate on_points = predicate.substitute(map.components());
  return {
      .extents = extents, .where = is_always(where) ? on_points : where && on_points, .map = map};
}

KeySet KeySet::rekey(const KeyFunction& function) const {
  require_components(function.input_arity(), map);
  return {.extents = extents, .where = where, .map = function.compose(map)};
}

}  // namespace tessera
