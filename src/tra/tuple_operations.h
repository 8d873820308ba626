#pragma once

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "base/check.h"
#include "base/stop.h"
#include "tessera/plan.h"
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
    for (Payload& output : apply_kernel(apply.kernel, arguments))
      result.push_back(std::move(output));
  }
  return result;
}

inline Key pick(const Key& key, const std::vector<int>& components) {
  Key result;
  for (int i : components) result.push_back(key[i]);
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
                  "{}: {} and {} are of one group but differ in shape", kernel.to_string(),
                  to_string(a), to_string(b));
}

template <class Payload>
Payload fold_tiles(const KernelCall& kernel, const Payload& so_far, const Payload& next) {
  require_same_shape(kernel, type_of(so_far), type_of(next));
  return apply_kernel(kernel, {so_far, next}).front();
}

/// The components of the right key of a join that are appended to the left key.
inline std::vector<int> appended_components(const std::vector<int>& right_keys, int right_arity) {
  std::vector<int> appended;
  for (int i = 0; i < right_arity; ++i)
    if (std::find(right_keys.begin(), right_keys.end(), i) == right_keys.end())
      appended.push_back(i);
  return appended;
}

/// Calls `pair(key, columns)` for each two tuples that agree in the keys they are joined on: with
/// the key of the result, and the columns of the left and then of the right tuple.
template <class Payload, class F>
void for_each_match(const std::vector<BasicTuple<Payload>>& left,
                    const std::vector<BasicTuple<Payload>>& right,
                    const std::vector<int>& left_keys, const std::vector<int>& right_keys,
                    int right_arity, F&& pair) {
  std::unordered_map<Key, std::vector<const BasicTuple<Payload>*>, KeyHash> matches;
  for (const auto& tuple : right) matches[pick(tuple.key, right_keys)].push_back(&tuple);
  const std::vector<int> appended = appended_components(right_keys, right_arity);
  for (const auto& l : left) {
    refuse_if_stopped("tuples were joined");
    const auto found = matches.find(pick(l.key, left_keys));
    if (found == matches.end()) continue;
    for (const auto* r : found->second) {
      Key key = l.key;
      for (int i : appended) key.push_back(r->key[i]);
      std::vector<Payload> columns = l.tiles;
      columns.insert(columns.end(), r->tiles.begin(), r->tiles.end());
      pair(key, columns);
    }
  }
}

}  // namespace tessera
