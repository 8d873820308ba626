#include "base/bytes.h"
#include "base/columns.h"
#include "base/quantities.h"
#include "session/explain/pairs.h"
#include "session/explain/text.h"

namespace tessera::session {
namespace {

using Lines = std::vector<std::vector<std::string>>;

/// Totals, one quantity a line.
std::string totals_text(const Figures& predicted, const Figures& measured) {
  Lines lines{{"", "predicted", "measured"}};
  const auto add = [&](const char* name, const std::string& one, const std::string& other) {
    lines.push_back({name, one, other});
  };
  add("time", seconds_text(predicted.seconds), seconds_text(measured.seconds));
  add("flops", quantity_text(predicted.flops), quantity_text(measured.flops));
  add("bytes", size_text(predicted.bytes), size_text(measured.bytes));
  if (predicted.floats_moved > 0 || measured.floats_moved > 0)
    add("floats moved", quantity_text(predicted.floats_moved),
        quantity_text(measured.floats_moved));
  add("peak memory", bytes_text(predicted.peak), bytes_text(measured.peak));
  add("read", bytes_text(predicted.read), bytes_text(measured.read));
  add("spilled", bytes_text(predicted.spilled), bytes_text(measured.spilled));
  add("tasks", "", std::to_string(measured.tasks));
  return in_columns(lines);
}

std::string measured_frames_text(const Outline& outline, const Analysis& analysis) {
  const query::Framing& framing = *outline.framing;
  const std::size_t frames = framing.frames.size();
  std::string text = fmt::format(
      "{} operators of {} versions in {} frames, {} of them computed before; {:.1f} expected "
      "pipeline breakers\n",
      outline.queries->operators(), outline.queries->instances.size(), frames, analysis.resumed,
      framing.expected_breakers);
  std::vector<const Analysis::Frame*> shown;
  Pairs time, flops, bytes, memory;
  for (const Analysis::Frame& frame : analysis.frames) {
    const auto f = static_cast<std::size_t>(frame.number);
    if (f == frames && frame.runs == 0) continue;  // the result was there
    if (!is_shown(f, frames)) continue;
    shown.push_back(&frame);
    const Figures &one = frame.predicted, &other = frame.measured;
    time.add(time_text(one.seconds), time_text(other.seconds));
    flops.add(quantity_text(one.flops), quantity_text(other.flops));
    bytes.add(size_text(one.bytes), size_text(other.bytes));
    memory.add(bytes_text(one.peak), bytes_text(other.peak));
  }
  Lines lines{{"predicted | measured", "operators", "row by row", "stored results", "runs", "time",
               "flops", "bytes", "memory", "total time"}};
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const Analysis::Frame& frame = *shown[i];
    const auto f = static_cast<std::size_t>(frame.number);
    if (i > 0 && frame.number != shown[i - 1]->number + 1) lines.push_back({"..."});
    const bool is_result = f == frames;
    lines.push_back({is_result ? "result" : fmt::format("frame {}", f),
                     is_result ? "" : std::to_string(framing.frames[f].size()),
                     std::to_string(frame.row_operators),
                     is_result ? "" : std::to_string(results_for_later(framing, f)),
                     std::to_string(frame.runs), time.text(i), flops.text(i), bytes.text(i),
                     memory.text(i), seconds_text(frame.seconds)});
  }
  return text + in_columns(lines);
}

}  // namespace

std::string analysis_text(const Outline& outline, const Analysis& analysis, bool verbose) {
  std::string text = tree_text(outline, &analysis);
  if (outline.in_frames()) text += "\n" + measured_frames_text(outline, analysis);
  if (verbose) text += passes_text(outline);
  if (verbose && outline.in_frames()) text += planning_text(analysis.rules, analysis.passes);
  for (const Analysis::Run& run : analysis.runs) {
    text += "\n";
    if (run.op >= 0)
      text += fmt::format("run for the rows of {}\n", describe(*outline.queries, run.op));
    text += run_text(run);
    if (!run.record.cost.exact)
      text += "some relations are too large to enumerate; predictions are estimates\n";
    if (verbose) text += planning_text(run.record.rules, run.record.passes);
  }
  text += "\n";
  if (!analysis.runs.empty() || outline.in_frames())
    text += totals_text(analysis.predicted, analysis.measured);
  return text + fmt::format("total time {}\n", seconds_text(analysis.seconds));
}

}  // namespace tessera::session
