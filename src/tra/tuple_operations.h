#pragma once

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "base/stop.h"
#include "tessera/plan.h"
#include "tra/join_pairs.h"
#include "tra/tuple_set.h"

// What the operators do to a tuple, wherever it lies and whatever its payload is.

namespace tessera {

/// Runs `body`; an error in it is told at which tuple of which operator it happened. A stop is
/// looked for before each tuple.
template <class Describe, class F>
auto at_key(Describe&& op, const Key& key, F&& body) {
  const auto where = [&](const Error& error) {
    return fmt::format("{} (at key {} of {})", error.what(), to_string(key), op());
  };
  refuse_if_stopped("tuples were looked at");
  try {
    return body();
  } catch (const TypeError& error) {
    throw TypeError(where(error));
  } catch (const ValueError& error) {
    throw ValueError(where(error));
  } catch (const OutOfMemory& error) {
    throw OutOfMemory(where(error));
  }
}

template <class Payload>
std::vector<Payload> project(const std::vector<Apply>& projection,
                             const std::vector<Payload>& columns) {
  std::vector<Payload> result;
  for (const Apply& apply : projection) {
    std::vector<Payload> arguments;
    for (int column : apply.columns) arguments.push_back(columns[column]);
    if (apply.kernel) arguments = apply_kernel(*apply.kernel, arguments);
    for (Payload& output : arguments) result.push_back(std::move(output));
  }
  return result;
}

/// The i-th piece of an array; the last ones of a smaller array are smaller, or empty.
template <class Payload>
Payload cut_piece(const Payload& array, int dimension, std::int64_t size, std::int64_t i) {
  const std::int64_t extent = type_of(array).shape[dimension];
  return cut(array, dimension, std::min(extent, i * size), std::min(extent, (i + 1) * size));
}

/// An aggregation folds arrays of one type: broadcasting a smaller tile would be silently wrong.
inline void require_same_shape(const KernelCall& kernel, const TileType& a, const TileType& b) {
  TESSERA_REQUIRE(TypeError, a.shape == b.shape,
                  "{}: {} and {} are in the same group, but have different shapes",
                  kernel.to_string(), to_string(a), to_string(b));
}

template <class Payload>
Payload fold_tiles(const KernelCall& kernel, const Payload& so_far, const Payload& next) {
  require_same_shape(kernel, type_of(so_far), type_of(next));
  return apply_kernel(kernel, {so_far, next}).front();
}

/// Calls `pair(key, columns)` for each two tuples that agree in the keys they are joined on: with
/// the key of the result, and the columns of the left and then of the right tuple.
template <class Payload, class F>
void for_each_match(const std::vector<BasicTuple<Payload>>& left,
                    const std::vector<BasicTuple<Payload>>& right,
                    const std::vector<int>& left_keys, const std::vector<int>& right_keys,
                    int right_arity, F&& pair) {
  const auto key_of = [](const BasicTuple<Payload>& tuple) -> const Key& { return tuple.key; };
  for_each_pair(left, right, left_keys, right_keys, right_arity, key_of,
                [&](const Key& key, const auto& l, const auto& r) {
                  std::vector<Payload> columns = l.tiles;
                  columns.insert(columns.end(), r.tiles.begin(), r.tiles.end());
                  pair(key, columns);
                });
}

}  // namespace tessera
