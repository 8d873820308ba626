#include "exec/join_pairs.h"

#include "base/stop.h"
#include "tra/tuple_operations.h"

namespace tessera::exec {

std::vector<Pair> join_pairs(const ia::Join& join, const std::vector<Tuple>& left,
                             const std::vector<Tuple>& right, KeyStore& keys, NewKeys& renamed) {
  std::unordered_map<Key, std::vector<Tuple>, KeyHash> matches;
  for (const Tuple& tuple : right) matches[pick(keys[tuple.key], join.right_keys)].push_back(tuple);
  const std::vector<int> appended = appended_components(join.right_keys, join.right.type().arity());
  std::vector<Pair> pairs;
  for (const Tuple& l : left) {
    const Key left_key = keys[l.key];
    const auto found = matches.find(pick(left_key, join.left_keys));
    if (found == matches.end()) continue;
    refuse_if_stopped("pairs of tiles were listed");
    for (const Tuple& r : found->second) {
      Key key = left_key;
      const auto right_key = keys.components(r.key);
      for (int i : appended) key.push_back(right_key[i]);
      const KeyId own = keys.add(key);
      pairs.push_back(
          {own, join.keys ? keys.add(renamed.rename(*join.keys, key)) : own, l.value, r.value});
    }
  }
  sort_by_key(pairs, keys);
  return pairs;
}

}  // namespace tessera::exec
