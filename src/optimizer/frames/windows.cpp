#include "optimizer/frames/windows.h"

#include <algorithm>

#include "optimizer/frames/orders.h"
#include "optimizer/frames/search.h"

namespace tessera::frames {

namespace {

/// A cut as an order and the places where frames begin: what cutting a window anew changes is only
/// what lies in the window.
class Windows {
 public:
  Windows(const OperatorGraph& graph, Cut& cut, Limits limits, Noise& noise)
      : graph_(graph),
        cut_(cut),
        limits_(limits),
        noise_(noise),
        order_(in_frames(cut, depth_first(graph, From::results, 0, noise))),
        local_(order_.size(), -1) {
    for (std::int32_t i = 0; i < graph.size(); ++i)
      if (i == 0 || cut.frame_of[order_[i]] != cut.frame_of[order_[i - 1]]) begins_.push_back(i);
  }

  double run(const Effort& effort) {
    double gained = 0;
    std::vector<std::int32_t> done;  // where frames begin before those that are still to come
    std::vector<std::int32_t> ahead(begins_.rbegin(), begins_.rend());
    while (!ahead.empty()) {
      const auto frames = std::min(std::ssize(ahead), std::ptrdiff_t{effort.window});
      const std::int32_t begin = ahead.back();
      const std::int32_t end = std::ssize(ahead) == frames
                                   ? graph_.size()
                                   : ahead[ahead.size() - 1 - static_cast<std::size_t>(frames)];
      std::vector<std::int32_t> inner(ahead.end() - frames, ahead.end());
      std::reverse(inner.begin(), inner.end());
      ahead.resize(ahead.size() - static_cast<std::size_t>(frames));
      gained += cut_anew(begin, end, inner, effort);
      // The next window overlaps this one, but for its first frame, so that every two neighbours
      // are in one window at some time.
      const std::ptrdiff_t finished =
          ahead.empty() ? std::ssize(inner) : std::max<std::ptrdiff_t>(1, std::ssize(inner) - 1);
      done.insert(done.end(), inner.begin(), inner.begin() + finished);
      ahead.insert(ahead.end(), inner.rbegin(), inner.rend() - finished);
    }
    begins_ = std::move(done);
    write_back();
    return gained;
  }

 private:
  double cut_anew(std::int32_t begin, std::int32_t end, std::vector<std::int32_t>& begins,
                  const Effort& effort) {
    if (begins.size() < 2) return 0;
    for (std::int32_t i = begin; i < end; ++i) local_[order_[i]] = i - begin;
    std::vector<Edge> edges;
    Cut now;
    now.frames = static_cast<std::int32_t>(begins.size());
    std::int32_t frame = -1;
    for (std::int32_t i = begin; i < end; ++i) {
      if (frame + 1 < now.frames && begins[static_cast<std::size_t>(frame) + 1] == i) ++frame;
      now.frame_of.push_back(frame);
      for (const Link& link : graph_.consumers(order_[i]))
        if (local_[link.other] >= 0)
          edges.push_back({i - begin, local_[link.other], link.probability});
    }
    for (std::int32_t i = begin; i < end; ++i) local_[order_[i]] = -1;
    const OperatorGraph window(end - begin, std::move(edges));
    now.expected_breakers = expected_breakers(window, now.frame_of);
    const double before = now.expected_breakers;
    const Cut better =
        search(window, limits_, std::move(now), effort.attempts, noise_, effort.stop);
    if (better.expected_breakers > before) return 0;

    const Order inside = in_frames(better, by_number(window));
    const Order were(order_.begin() + begin, order_.begin() + end);
    begins.clear();
    for (std::int32_t i = 0; i < window.size(); ++i) {
      order_[begin + i] = were[inside[i]];
      if (i == 0 || better.frame_of[inside[i]] != better.frame_of[inside[i - 1]])
        begins.push_back(begin + i);
    }
    return before - better.expected_breakers;
  }

  void write_back() {
    cut_.frames = static_cast<std::int32_t>(begins_.size());
    for (std::int32_t frame = 0; frame < cut_.frames; ++frame) {
      const std::int32_t end = frame + 1 < cut_.frames ? begins_[frame + 1] : graph_.size();
      for (std::int32_t i = begins_[frame]; i < end; ++i) cut_.frame_of[order_[i]] = frame;
    }
    cut_.expected_breakers = expected_breakers(graph_, cut_.frame_of);
  }

  const OperatorGraph& graph_;
  Cut& cut_;
  const Limits limits_;
  Noise& noise_;
  Order order_;
  std::vector<std::int32_t> begins_;  // the places in the order at which frames begin
  std::vector<std::int32_t> local_;   // an operator's number in its window, or -1
};

}  // namespace

double improve_windows(const OperatorGraph& graph, Cut& cut, Limits limits, const Effort& effort,
                       Noise& noise) {
  return Windows(graph, cut, limits, noise).run(effort);
}

}  // namespace tessera::frames
