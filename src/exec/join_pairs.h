#pragma once

#include "exec/new_keys.h"
#include "exec/tuples.h"

namespace tessera::exec {

/// Two tuples that join. Its own key is that of the result before it is renamed.
struct Pair {
  KeyId own_key, key;
  ValueId left, right;
};

/// The pairs that join at a site, in order of their keys.
std::vector<Pair> join_pairs(const ia::Join& join, const std::vector<Tuple>& left,
                             const std::vector<Tuple>& right, KeyStore& keys, NewKeys& renamed);

}  // namespace tessera::exec
