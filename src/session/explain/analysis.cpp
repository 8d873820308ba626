#include "session/explain/analysis.h"

#include <algorithm>

namespace tessera::session {
namespace {

/// Adds up what was done by rules, or passes, of the same name.
template <class Use>
void add(std::vector<Use>& sums, const std::vector<Use>& more, std::string Use::*name) {
  for (const Use& use : more) {
    const auto known = std::find_if(sums.begin(), sums.end(),
                                    [&](const Use& sum) { return sum.*name == use.*name; });
    if (known == sums.end()) {
      sums.push_back(use);
      continue;
    }
    known->seconds += use.seconds;
    if constexpr (std::is_same_v<Use, RuleUse>) known->fired += use.fired;
    for (const auto& [why, times] : use.refusals) known->refusals[why] += times;
  }
}

}  // namespace

void Measurement::frame_begins(std::int64_t frame) {
  end_frame();
  if (!any_frame_) found_.resumed = frame;
  any_frame_ = frame_open_ = true;
  frame_begin_ = Clock::now();
  found_.frames.push_back({frame});
}

void Measurement::end_frame() {
  if (frame_open_) found_.frames.back().seconds = seconds_since(frame_begin_);
  frame_open_ = false;
}

void Measurement::looked_at_rows(const query::RowWork& work) {
  if (frame_open_) ++found_.frames.back().row_operators;
  if (!in_frames_) found_.by_rows[op_] = work;
}

void Measurement::ran(const RunRecord& record) {
  const Figures expected = predicted(record), taken = measured(record);
  found_.predicted.add(expected);
  found_.measured.add(taken);
  if (frame_open_) {
    Analysis::Frame& frame = found_.frames.back();
    ++frame.runs;
    frame.predicted.add(expected);
    frame.measured.add(taken);
  }
  if (!in_frames_) {
    found_.runs.push_back({op_, record});
  } else {
    add(found_.rules, record.rules, &RuleUse::rule);
    add(found_.passes, record.passes, &PassUse::pass);
  }
}

Analysis Measurement::take() {
  end_frame();
  found_.seconds = seconds_since(begin_);
  return std::move(found_);
}

}  // namespace tessera::session
