#include <algorithm>

#include "exec/task_order.h"

namespace tessera::exec {
namespace {

/// Looks, in a graph whose order is depth first, for the box, and the order within it, that makes a
/// run read and write least.
/// Every forecast goes through all tasks, so that large graphs get few.
class BoxSearch {
 public:
  BoxSearch(TaskGraph& graph, const RunSetup& under) : graph_(graph), under_(under) {
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
    // All at once, input by input: it may be all that is wanted, and is tried while there are
    // tries.
    consider(extents_, true);
    const std::int64_t longest = *std::max_element(extents_.begin(), extents_.end());
    for (std::int64_t side = 2; side < 2 * longest; side = next_side(side))
      consider(Key(extents_.size(), side), false);
    if (best_.by_input)
      for (std::int64_t side = 2; side < longest; side = next_side(side))
        consider(Key(extents_.size(), side), true);
    for (bool better = !best_.box.empty(); better;) {
      better = false;
      const ChosenOrder from = best_;
      for (std::size_t i = 0; i < from.box.size(); ++i)
        for (const bool larger : {true, false}) {
          Key changed = from.box;
          changed[i] = larger ? next_side(changed[i]) : std::max<std::int64_t>(1, changed[i] - 1);
          better = consider(changed, from.by_input) || better;
        }
    }
    renumber(graph_, order(best_));
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

  std::vector<TaskId> order(const ChosenOrder& chosen) const {
    if (chosen.box.empty()) return depth_first(graph_);
    return chosen.by_input ? input_by_input(graph_, chosen.box) : box_by_box(graph_, chosen.box);
  }

  bool consider(Key box, bool by_input) {
    for (std::size_t i = 0; i < box.size(); ++i) box[i] = std::min(box[i], extents_[i]);
    if (tries_left_-- <= 0 || (box == best_.box && by_input == best_.by_input)) return false;
    ChosenOrder made{{}, box, by_input};
    renumber(graph_, order(made));
    if (needed() > most_needed_) return false;
    made.forecast = forecast(graph_, under_);
    if (moved(made.forecast) >= moved(best_.forecast)) return false;
    best_ = made;
    return true;
  }

  TaskGraph& graph_;
  const RunSetup& under_;
  ChosenOrder best_;
  Key extents_;
  int tries_left_ = 0;
  std::int64_t most_needed_ = 0;  // an order must not need more than the limit
};

}  // namespace

ChosenOrder choose_order(TaskGraph& graph, const RunSetup& under) {
  return BoxSearch(graph, under).best();
}

}  // namespace tessera::exec
