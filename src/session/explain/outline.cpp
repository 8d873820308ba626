#include "session/explain/outline.h"

#include <algorithm>

#include "exec/engine.h"

namespace tessera::session {

std::string describe(const query::Unrolled& plan, std::int64_t op) {
  return query::describe(*query::operator_of(plan, op).node);
}

std::int64_t results_for_later(const query::Framing& framing, std::size_t frame) {
  return std::count_if(
      framing.frames[frame].begin(), framing.frames[frame].end(),
      [&](std::int32_t op) { return std::cmp_greater(framing.last_reader[op], frame); });
}

std::string title_of(const Outline& outline, const ExplainedRun& run) {
  const std::string what = run.what.empty() ? "its stored results" : run.what;
  if (!outline.in_frames()) return run.what.empty() ? "" : "plan for " + what;
  const bool is_frame = std::cmp_less(run.frame, outline.framing->frames.size());
  return fmt::format("{}, plan for {}",
                     is_frame ? fmt::format("frame {}", run.frame) : std::string("result"), what);
}

bool shows_plans_of(const Outline& outline, std::int64_t frame) {
  return !outline.in_frames() || frame < 3 ||
         std::cmp_greater_equal(frame + 1, outline.framing->frames.size());
}

PlannedRun Explainer::planned(const std::vector<Plan>& plans, const RunOptions& options,
                              Results results) {
  OptimizerOptions planning = planning_(options);
  // To plan alternatives takes many times as long as to plan.
  planning.alternatives = planning.alternatives && shows_plans_of(outline_, frame_);
  PlannedRun planned = plan_run(plans, options, results, std::move(planning));
  // With a measurement, frames are told by their totals. The first process tells it for all.
  const bool tells = options.engine->rank() == 0;
  if (tells && (measurement_ == nullptr || !outline_.in_frames()))
    outline_.parts.push_back({op_ < 0 ? "" : "the rows of " + describe(*outline_.queries, op_),
                              frame_, planned.optimized(), planned.memory()});
  return planned;
}

std::optional<std::vector<Relation>> Explainer::run(const std::vector<Plan>& plans,
                                                    const RunOptions& options) {
  PlannedRun made = planned(plans, options, Results::kept);
  if (measurement_ == nullptr) return std::nullopt;
  return tessera::run(std::move(made));
}

std::optional<std::vector<TupleSet<TileType>>> Explainer::store(const std::vector<Plan>& plans,
                                                                const RunOptions& options) {
  PlannedRun made = planned(plans, options, Results::handed_over);
  if (measurement_ == nullptr) return made.results();
  const TupleSink nowhere = [](std::size_t, const Key&, const std::vector<Tile>&) {};
  return run_into(std::move(made), nowhere);
}

void Explainer::frame_begins(std::int64_t frame) {
  frame_ = frame;
  if (measurement_ != nullptr) measurement_->frame_begins(frame);
}

void Explainer::operator_begins(std::int64_t op) {
  op_ = op;
  if (measurement_ != nullptr) measurement_->operator_begins(op);
}

void Explainer::results_begin() {
  op_ = -1;
  if (measurement_ != nullptr) measurement_->operator_begins(-1);
}

void Explainer::looked_at_rows(const query::RowWork& work) {
  if (!work.reason.empty()) outline_.by_rows[op_] = work.reason;
  if (measurement_ != nullptr) measurement_->looked_at_rows(work);
}

}  // namespace tessera::session
