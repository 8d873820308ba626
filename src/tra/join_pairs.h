#pragma once

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "base/stop.h"
#include "tessera/key.h"

namespace tessera {

inline Key pick(const Key& key, const std::vector<int>& components) {
  Key result;
  for (int i : components) result.push_back(key[i]);
  return result;
}

/// The components of the right key of a join that are appended to the left key.
inline std::vector<int> appended_components(const std::vector<int>& right_keys, int right_arity) {
  std::vector<int> appended;
  for (int i = 0; i < right_arity; ++i)
    if (std::find(right_keys.begin(), right_keys.end(), i) == right_keys.end())
      appended.push_back(i);
  return appended;
}

/// Calls `pair(key, l, r)` for each two members of `left` and `right` whose keys agree in the
/// components that they are joined on, with the key of the result: in the order of `left`, and for
/// each of these in the order of `right`. `key_of` gives a member's key.
template <class Members, class KeyOf, class F>
void for_each_pair(const Members& left, const Members& right, const std::vector<int>& left_keys,
                   const std::vector<int>& right_keys, int right_arity, const KeyOf& key_of,
                   const F& pair) {
  std::unordered_map<Key, std::vector<const typename Members::value_type*>, KeyHash> matches;
  for (const auto& r : right) matches[pick(key_of(r), right_keys)].push_back(&r);
  const std::vector<int> appended = appended_components(right_keys, right_arity);
  for (const auto& l : left) {
    refuse_if_stopped("tuples were joined");
    const Key left_key = key_of(l);
    const auto found = matches.find(pick(left_key, left_keys));
    if (found == matches.end()) continue;
    for (const auto* r : found->second) {
      Key key = left_key;
      const Key right_key = key_of(*r);
      for (int i : appended) key.push_back(right_key[i]);
      pair(key, l, *r);
    }
  }
}

}  // namespace tessera
