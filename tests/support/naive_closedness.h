#pragma once

#include <algorithm>
#include <map>

#include "tessera/error.h"
#include "tessera/key.h"

namespace tessera {

/// What the definitions say of a set of keys, computed as they are written: every point, every key
/// in an ordered map, every key below the frontier looked up.
struct NaiveClosedness {
  bool defined = true;        // filter and map have values wherever they are asked for
  std::map<Key, int> points;  // how many points have each key
  bool non_negative = true;
  bool unique = true;
  bool continuous = true;
  Key frontier;
  Key first_repeated, first_missing, first_negative;  // in the order of points, or of keys
};

inline bool next_below(const Key& extents, Key& key) {
  for (std::size_t i = key.size(); i-- > 0; key[i] = 0)
    if (++key[i] < extents[i]) return true;
  return false;
}

inline NaiveClosedness naive_closedness(const KeySet& keys) {
  NaiveClosedness result;
  result.frontier = Key(static_cast<std::size_t>(keys.map.output_arity()), 0);
  const auto has_a_zero = [](const Key& key) {
    return std::find(key.begin(), key.end(), 0) != key.end();
  };
  Key point(keys.extents.size(), 0);
  if (has_a_zero(keys.extents)) return result;
  do {
    Key key;
    try {
      if (!keys.where.evaluate(point)) continue;
      key = keys.map.evaluate(point);
    } catch (const ValueError&) {
      result.defined = false;
      return result;
    }
    if (++result.points[key] == 2 && result.unique) {
      result.unique = false;
      result.first_repeated = key;
    }
    for (std::size_t i = 0; i < key.size(); ++i) {
      result.frontier[i] = std::max(result.frontier[i], key[i] + 1);
      if (key[i] < 0 && result.non_negative) {
        result.non_negative = false;
        result.first_negative = key;
      }
    }
  } while (next_below(keys.extents, point));
  if (result.points.empty() || has_a_zero(result.frontier)) return result;
  Key key(result.frontier.size(), 0);
  do {
    if (result.points.contains(key)) continue;
    result.continuous = false;
    result.first_missing = key;
    break;
  } while (next_below(result.frontier, key));
  return result;
}

}  // namespace tessera
