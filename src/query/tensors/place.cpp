#include "query/tensors/place.h"

namespace tessera::query {

std::optional<Place> place_of(const Term& at) {
  if (const auto* fixed = as<term::Number>(at)) {
    if (fixed->value.dtype() != DType::i64) return std::nullopt;
    return Place{fixed->value.as<std::int64_t>(), 1, -1};
  }
  if (const auto* index = as<term::Position>(at)) return Place{0, 1, index->index};
  const auto* applied = as<term::Applied>(at);
  if (applied == nullptr || applied->arguments.size() != 2) return std::nullopt;
  const auto left = place_of(applied->arguments[0]), right = place_of(applied->arguments[1]);
  if (!left || !right) return std::nullopt;
  const Place &indexed = left->index >= 0 ? *left : *right,
              &fixed = left->index >= 0 ? *right : *left;
  if (fixed.index >= 0) return std::nullopt;
  if (applied->function->name == "add")
    return Place{indexed.first + fixed.first, indexed.step, indexed.index};
  if (applied->function->name == "sub" && right->index < 0)
    return Place{indexed.first - fixed.first, indexed.step, indexed.index};
  if (applied->function->name == "mul")
    return Place{indexed.first * fixed.first, indexed.step * fixed.first, indexed.index};
  return std::nullopt;
}

}  // namespace tessera::query
