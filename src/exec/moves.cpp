#include "exec/moves.h"

#include "ia/evaluate.h"

namespace tessera::exec {
namespace {

struct Located {
  KeyId key;
  ValueId value;
  int site;
};

std::vector<Located> by_key(const Tuples& tuples, const KeyStore& keys) {
  std::vector<Located> all;
  for (std::size_t site = 0; site < tuples.size(); ++site)
    for (const Tuple& tuple : tuples[site])
      all.push_back({tuple.key, tuple.value, static_cast<int>(site)});
  sort_by_key(all, keys);
  return all;
}

}  // namespace

Tuples moved(GraphBuilder& builder, int op, const ia::Plan& input, const Tuples& tuples,
             const Placement& to) {
  const KeyStore& keys = builder.graph().keys;
  const std::vector<Located> all = by_key(tuples, keys);
  Tuples result(tuples.size());
  std::vector<int> holders, wanted;
  for (auto first = all.begin(); first != all.end();) {
    auto last = first;
    holders.clear();
    for (; last != all.end() && !keys.less(first->key, last->key); ++last)
      if (holders.empty() || holders.back() != last->site) holders.push_back(last->site);
    to.holders(keys[first->key], wanted);
    // The rule that says who sends is the reference's: what crosses must be the same everywhere.
    for (const std::vector<int>& same :
         ia::summands_at(input.placement(), holders, !input.pending().empty()))
      for (int site : wanted) {
        const bool there = std::find(same.begin(), same.end(), site) != same.end();
        const int from = there ? site : ia::sender(same, site);
        for (auto tuple = first; tuple != last; ++tuple) {
          if (tuple->site != from) continue;
          const ValueId value =
              there ? tuple->value : builder.transfer(op, site, tuple->key, tuple->value);
          result[site].push_back({tuple->key, value});
        }
      }
    first = last;
  }
  return result;
}

}  // namespace tessera::exec
