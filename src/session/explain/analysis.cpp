#include "session/explain/analysis.h"

namespace tessera::session {
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
  if (!in_frames_) found_.runs.push_back({op_, record});
}

Analysis Measurement::take() {
  end_frame();
  found_.seconds = seconds_since(begin_);
  return std::move(found_);
}

}  // namespace tessera::session
