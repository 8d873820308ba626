#pragma once

#include <algorithm>
#include <vector>

#include "base/stop.h"
#include "exec/task_graph.h"

namespace tessera::exec {

/// A tuple of a graph that is being made.
struct Tuple {
  KeyId key;
  ValueId value;
};
/// The tuples of a physical relation by site, in order of their keys.
using Tuples = std::vector<std::vector<Tuple>>;

template <class Keyed>
void sort_by_key(std::vector<Keyed>& tuples, const KeyStore& keys) {
  StopPoll poll("tuples were sorted");
  const auto before = [&](const Keyed& a, const Keyed& b) {
    poll.passed(8);
    return keys.less(a.key, b.key);
  };
  if (!std::is_sorted(tuples.begin(), tuples.end(), before))
    std::stable_sort(tuples.begin(), tuples.end(), before);
}

}  // namespace tessera::exec
