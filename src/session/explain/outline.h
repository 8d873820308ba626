#pragma once

#include <map>

#include "query/lowering/evaluation.h"
#include "query/tensors/tensor.h"
#include "query/versions/framing.h"
#include "session/explain/analysis.h"

namespace tessera::session {

/// Plans that run together, as they were planned.
struct ExplainedRun {
  std::string what = {};    // they are for; empty: for all that is asked
  std::int64_t frame = -1;  // that they belong to; -1: there are no frames
  OptimizedPlan plan;
  std::optional<MemoryForecast> memory = {};  // none if an input has no data
};

/// A statement as it was planned, as far as that can be known before rows are looked at.
struct Outline {
  const query::Unrolled* queries = nullptr;
  const query::Framing* framing = nullptr;
  /// Tensors that are stored or shown, instead of queries; several have names.
  std::vector<std::pair<std::string, query::Tensor>> tensors = {};
  std::vector<std::vector<std::string>> program = {};  // how its loops run, line by line
  std::map<std::int64_t, std::string> by_rows = {};    // operators that look at rows, and why
  std::map<std::int64_t, std::string> later = {};  // operators that cannot be planned yet, and why
  std::vector<PassUse> passes = {};      // of the statement; those of its plans are told with them
  std::vector<ExplainedRun> parts = {};  // in the order in which they run

  bool in_frames() const { return framing != nullptr && framing->frames.size() > 1; }
};

/// Goes along when a statement is evaluated and notes how it is done: each run as it was planned,
/// and why rows are looked at. It runs nothing, unless there is a measurement.
class Explainer final : public query::PlanRunner, public query::EvaluationObserver {
 public:
  using PlanningOptions = std::function<OptimizerOptions(const RunOptions&)>;
  Explainer(Outline& outline, PlanningOptions planning, Measurement* measurement)
      : outline_(outline), planning_(std::move(planning)), measurement_(measurement) {}

  std::optional<std::vector<Relation>> run(const std::vector<Plan>& plans,
                                           const RunOptions& options) override;
  bool looks_at_rows() const override { return measurement_ != nullptr; }
  /// Of what a statement stores; with a measurement it is computed and dropped.
  std::optional<std::vector<TupleSet<TileType>>> store(const std::vector<Plan>& plans,
                                                       const RunOptions& options) override;

  void frame_begins(std::int64_t frame) override;
  void operator_begins(std::int64_t op) override;
  void looked_at_rows(const query::RowWork& work) override;
  void known_later(const std::string& why) override { outline_.later[op_] = why; }
  void results_begin() override;

 private:
  PlannedRun planned(const std::vector<Plan>& plans, const RunOptions& options, Results results);

  Outline& outline_;
  const PlanningOptions planning_;
  Measurement* const measurement_;
  std::int64_t frame_ = -1, op_ = -1;
};

/// Of a frame: how many of its results later ones read, or whoever asks.
std::int64_t results_for_later(const query::Framing& framing, std::size_t frame);

/// What a run is for, in words; empty if it is all that is asked for.
std::string title_of(const Outline& outline, const ExplainedRun& run);

/// Plans that have hundreds of operators each are told of some frames: those at both ends.
bool shows_plans_of(const Outline& outline, std::int64_t frame);

/// The operator with this number in one line.
std::string describe(const query::Unrolled& plan, std::int64_t op);

}  // namespace tessera::session
