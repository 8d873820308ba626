#include "query/versions/framing.h"

#include <algorithm>

#include "base/check.h"

namespace tessera::query {

OperatorOf operator_of(const Unrolled& plan, std::int64_t op) {
  const auto after = std::upper_bound(plan.first.begin(), plan.first.end(), op);
  const auto which = static_cast<int>(after - plan.first.begin()) - 1;
  const Instance instance = plan.instances[which];
  return {which, instance, instance.of->operators[op - plan.first[which]].get()};
}

std::int64_t result_of(const Unrolled& plan, int instance) {
  const Template& of = *plan.instances[instance].of;
  return plan.first[instance] + of.number.at(of.root.get());
}

std::vector<OperatorInput> reads_of(const Unrolled& plan, std::int64_t op) {
  const auto [which, instance, node] = operator_of(plan, op);
  const std::int64_t first = plan.first[which];
  std::vector<OperatorInput> reads;
  for (const NodePtr& input : inputs_of(*node)) {
    const auto* scan = std::get_if<Scan>(&input->op);
    if (scan == nullptr) {
      reads.push_back({first + instance.of->number.at(input.get())});
      continue;
    }
    const int source = instance.inputs[scan->input];
    if (source >= 0)
      reads.push_back({result_of(plan, source)});
    else
      reads.push_back({-1, -1 - source});
  }
  return reads;
}

frames::Kind kind_of(const Node& node) {
  struct Kinds {
    frames::Kind operator()(const Filter&) const { return frames::Kind::selection; }
    frames::Kind operator()(const Aggregate&) const { return frames::Kind::aggregation; }
    frames::Kind operator()(const Join&) const { return frames::Kind::join; }
    frames::Kind operator()(const Project&) const { return frames::Kind::projection; }
    frames::Kind operator()(const UnionAll&) const { return frames::Kind::union_all; }
    frames::Kind operator()(const Scan&) const { return frames::Kind::other; }
    frames::Kind operator()(const ConstantRows&) const { return frames::Kind::other; }
    frames::Kind operator()(const Distinct&) const { return frames::Kind::other; }
    frames::Kind operator()(const Sort&) const { return frames::Kind::other; }
    frames::Kind operator()(const Limit&) const { return frames::Kind::other; }
    frames::Kind operator()(const OnlyRow&) const { return frames::Kind::other; }
  };
  return std::visit(Kinds{}, node.op);
}

Framing framed(const Unrolled& plan, const frames::History& history, frames::Limits limits,
               const std::stop_token& stop) {
  TESSERA_REQUIRE(PlanError, plan.operators() < std::numeric_limits<std::int32_t>::max(),
                  "the plan is too large: {} operators", plan.operators());
  const auto count = static_cast<std::int32_t>(plan.operators());
  Framing result;
  result.frame_of.assign(static_cast<std::size_t>(count), 0);
  std::int32_t frames = 1;
  if (count > limits.max_size) {
    std::vector<frames::Kind> kinds;
    std::vector<frames::Use> uses;
    for (std::int32_t op = 0; op < count; ++op) {
      kinds.push_back(kind_of(*operator_of(plan, op).node));
      for (const OperatorInput& read : reads_of(plan, op))
        if (read.op >= 0) uses.push_back({static_cast<std::int32_t>(read.op), op});
    }
    frames::Cut cut =
        frames::cut(frames::operator_graph(kinds, std::move(uses), history), limits, stop);
    result.frame_of = std::move(cut.frame_of);
    result.expected_breakers = cut.expected_breakers;
    frames = cut.frames;
  }
  result.frames.resize(static_cast<std::size_t>(frames));
  result.last_reader.assign(static_cast<std::size_t>(count), -1);
  for (std::int32_t op = 0; op < count; ++op) {
    const std::int32_t frame = result.frame_of[op];
    result.frames[frame].push_back(op);
    for (const OperatorInput& read : reads_of(plan, op)) {
      if (read.op < 0) continue;
      TESSERA_INVARIANT(result.frame_of[read.op] <= frame, "frame {} reads what frame {} makes",
                        frame, result.frame_of[read.op]);
      result.last_reader[read.op] = std::max(result.last_reader[read.op], frame);
    }
  }
  // What is asked for is read in the end.
  for (int wanted : plan.wanted) result.last_reader[result_of(plan, wanted)] = frames;
  return result;
}

}  // namespace tessera::query
