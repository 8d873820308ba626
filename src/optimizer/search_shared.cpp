#include <algorithm>

#include "optimizer/grids.h"
#include "optimizer/search.h"

// A result that several operators read is computed once. Where it should lie depends on all of
// them, so that this is searched from outside: given where the shared results are, the rest is a
// tree.

namespace tessera::optimizer {

void Search::put(int node, int place) {
  at_[node] = place;
  for (const int above : dependents_[node]) {
    std::vector<int> where;
    for (const int below : depends_on_[above]) where.push_back(at_[below]);
    now_[above] = &known_[above][where];
  }
}

double Search::total() {
  double sum = 0;
  for (int node : shared_)
    if (at_[node] >= 0) sum += best_computed(node, at_[node]).cost;
  for (int root : skeleton_.roots)
    if (at_[root] < 0) sum += best_anywhere(root).cost;
  return sum;
}

/// Where the cheapest plan wants the results below a node to lie.
void Search::demands(int node, int place, std::vector<std::vector<int>>& of) {
  // Each place once: a plan has many more paths than nodes.
  if (std::find(of[node].begin(), of[node].end(), place) != of[node].end()) return;
  of[node].push_back(place);
  const Way way = best(node, place);
  if (way.cost == infinite) return;
  const std::vector<int>& inputs = skeleton_.nodes[node].inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (way.option.inputs[i] >= 0) demands(inputs[i], way.option.inputs[i], of);
}

std::vector<int> Search::shared_candidates(int node, const std::vector<int>& demanded) {
  std::vector<int> places = demanded;
  const auto add = [&](const Placement& placement) {
    const int place = costs_.number(placement);
    if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(place);
  };
  if (initial_[node] >= 0) add(costs_.placement(initial_[node]));
  add(Placement::all(skeleton_.sites));
  for (const Placement& grid : grids(costs_.frontier(node), skeleton_.sites, 12)) add(grid);
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  std::erase_if(places, [&](int place) { return costs_.placement(place).has_partials(); });
  return places;
}

void Search::decide_shared() {
  if (shared_.empty()) return;
  // As if nothing were shared: every reader has its result computed where it likes.
  std::vector<std::vector<int>> wanted(skeleton_.nodes.size());
  if (total() == infinite) return;
  for (int root : skeleton_.roots) demands(root, place_of(best_anywhere(root)), wanted);

  std::vector<std::vector<int>> candidates;
  for (int node : shared_) candidates.push_back(shared_candidates(node, wanted[node]));

  // From several starts, one shared result after the other is put where it costs least.
  std::vector<int> best_at;
  double best_total = infinite;
  const int starts = skeleton_.sites == 1 ? 1 : 3;
  for (int start = 0; start < starts; ++start) {
    for (std::size_t s = 0; s < shared_.size(); ++s) {
      const std::vector<int>& own = wanted[shared_[s]];
      const int all = costs_.number(Placement::all(skeleton_.sites));
      put(shared_[s], start == 2    ? all
                      : own.empty() ? candidates[s].front()
                      : start == 0  ? own.front()
                                    : own.back());
    }
    double current = total();
    for (bool better = skeleton_.sites > 1; better;) {  // one site leaves nothing to choose
      better = false;
      for (std::size_t s = 0; s < shared_.size(); ++s)
        for (int place : candidates[s]) {
          const int before = at_[shared_[s]];
          if (place == before) continue;
          put(shared_[s], place);
          const double tried = total();
          if (tried < current * (1 - 1e-12)) {
            current = tried;
            better = true;
          } else {
            put(shared_[s], before);
          }
        }
    }
    if (current < best_total) {
      best_total = current;
      best_at = at_;
    }
  }
  if (best_at.empty()) return;
  for (int node : shared_) put(node, best_at[node]);
}

}  // namespace tessera::optimizer
