#include <algorithm>

#include "exec/task_order.h"

namespace tessera::exec {
namespace {

/// Looks, in a graph whose order is depth first, for the box that makes a run read and write least.
/// Every forecast goes through all tasks, so that large graphs get few.
class BoxSearch {
 public:
  BoxSearch(TaskGraph& graph, const Circumstances& under) : graph_(graph), under_(under) {
    best_.forecast = forecast(graph_, under_);
    most_needed_ = std::max(under.limit, needed());
    for (const TaskGraph::Output& output : graph.outputs) {
      const auto key = graph.keys.components(output.key);
      while (extents_.size() < key.size()) extents_.push_back(1);
      for (std::size_t i = 0; i < key.size(); ++i) extents_[i] = std::max(extents_[i], key[i] + 1);
    }
    constexpr std::int64_t affordable = 2'000'000;  // tasks to go through
    const auto tasks = std::max<std::int64_t>(1, static_cast<std::int64_t>(graph.tasks.size()));
    tries_left_ = static_cast<int>(std::min<std::int64_t>(60, affordable / tasks));
  }

  ChosenOrder best() {
    if (extents_.empty() || moved(best_.forecast) <= unavoidable()) return best_;
    const std::int64_t longest = *std::max_element(extents_.begin(), extents_.end());
    for (std::int64_t side = 2; side < 2 * longest; side = next_side(side))
      consider(Key(extents_.size(), side));
    for (bool better = !best_.box.empty(); better;) {
      better = false;
      const Key from = best_.box;
      for (std::size_t i = 0; i < from.size(); ++i)
        for (const bool larger : {true, false}) {
          Key changed = from;
          changed[i] = larger ? next_side(from[i]) : std::max<std::int64_t>(1, from[i] - 1);
          better = consider(changed) || better;
        }
    }
    renumber(graph_, best_.box.empty() ? depth_first(graph_) : box_by_box(graph_, best_.box));
    return best_;
  }

 private:
  static std::int64_t next_side(std::int64_t side) {
    return side + std::max<std::int64_t>(1, side / 4);
  }
  std::int64_t needed() const {
    return least_limit(graph_, under_.mine, under_.sizes, under_.keeps_results);
  }
  static std::int64_t moved(const Forecast& made) { return made.read + made.written; }

  /// Each source is read at least once by somebody.
  std::int64_t unavoidable() const {
    std::int64_t bytes = 0;
    for (const TaskGraph::Given& given : graph_.given)
      if (under_.mine[graph_.values[given.value].site] && !graph_.readers_of(given.value).empty())
        bytes += under_.sizes.bytes[given.value];
    return bytes;
  }

  bool consider(Key box) {
    for (std::size_t i = 0; i < box.size(); ++i) box[i] = std::min(box[i], extents_[i]);
    if (tries_left_-- <= 0 || box == best_.box) return false;
    renumber(graph_, box_by_box(graph_, box));
    if (needed() > most_needed_) return false;
    const Forecast made = forecast(graph_, under_);
    if (moved(made) >= moved(best_.forecast)) return false;
    best_ = {made, box};
    return true;
  }

  TaskGraph& graph_;
  const Circumstances& under_;
  ChosenOrder best_;
  Key extents_;
  int tries_left_ = 0;
  std::int64_t most_needed_ = 0;  // an order must not need more than the limit
};

}  // namespace

ChosenOrder choose_order(TaskGraph& graph, const Circumstances& under) {
  return BoxSearch(graph, under).best();
}

}  // namespace tessera::exec
