#include "exec/moves.h"

#include <algorithm>
#include <unordered_map>

#include "base/stop.h"
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

/// The n-th of a site's tuples among those of one key.
ValueId nth_at(std::vector<Located>::const_iterator first,
               std::vector<Located>::const_iterator last, int site, std::ptrdiff_t n) {
  for (; first != last; ++first)
    if (first->site == site && n-- == 0) return first->value;
  throw InternalError("copies of a tuple differ");
}

}  // namespace

Tuples moved(GraphBuilder& builder, int op, const ia::Plan& input, const Tuples& tuples,
             const Placement& to) {
  const KeyStore& keys = builder.graph().keys;
  const std::vector<Located> all = by_key(tuples, keys);
  Tuples result(tuples.size());
  std::vector<int> holders, wanted, missing;
  std::vector<ia::Route> sendings;
  std::unordered_map<int, ValueId> copies;  // by site
  for (auto first = all.begin(); first != all.end();) {
    refuse_if_stopped("moves between sites were planned");
    auto last = first;
    holders.clear();
    for (; last != all.end() && !keys.less(first->key, last->key); ++last)
      if (holders.empty() || holders.back() != last->site) holders.push_back(last->site);
    to.holders(keys[first->key], wanted);
    // Who sends to whom is the reference's rule: what crosses must be the same everywhere.
    for (const std::vector<int>& same :
         ia::summands_at(input.placement(), holders, !input.pending().empty())) {
      missing.clear();
      for (int site : wanted) {
        if (std::find(same.begin(), same.end(), site) == same.end()) {
          missing.push_back(site);
          continue;
        }
        for (auto tuple = first; tuple != last; ++tuple)
          if (tuple->site == site) result[site].push_back({tuple->key, tuple->value});
      }
      if (missing.empty()) continue;
      ia::routes(same, missing, sendings);
      // Sites may have several summands of a key; each is sent on its own.
      for (auto tuple = first; tuple != last; ++tuple) {
        if (tuple->site != same.front()) continue;
        copies.clear();
        const auto nth = std::count_if(
            first, tuple, [&](const Located& other) { return other.site == tuple->site; });
        for (int site : same) copies[site] = nth_at(first, last, site, nth);
        for (const ia::Route& route : sendings) {
          const ValueId value = builder.transfer(op, route.to, tuple->key, copies.at(route.from));
          copies[route.to] = value;
          result[route.to].push_back({tuple->key, value});
        }
      }
    }
    first = last;
  }
  return result;
}

}  // namespace tessera::exec
