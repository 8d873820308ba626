#include "session/computation.h"
#include "session/explain/dot.h"
#include "session/explain/json.h"
#include "session/explain/options.h"
#include "session/explain/text.h"
#include "session/explain/text_by_first.h"
#include "session/pipeline.h"
#include "session/state.h"

// EXPLAIN: how a statement is done, layer by layer, without doing it; with ANALYZE, what it took.

namespace tessera {

using session::Analysis;
using session::Computation;
using session::Explainer;
using session::ExplainOptions;
using session::Outcome;
using session::Outline;
using session::StoredDefinitions;

namespace {

StatementResult lines(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    rows.push_back({text.substr(at, end - at)});
    at = end + 1;
  }
  return {"EXPLAIN", session::text_table({"plan"}, rows)};
}

/// How plans are made for the sites that EXPLAIN may name, with virtual tensors where they are said
/// to lie.
OptimizerOptions planning_for(const ExplainOptions& wanted, StoredDefinitions& catalogue,
                              const RunOptions& run) {
  OptimizerOptions planning = planning_options(run);
  planning.sites = wanted.sites.value_or(planning.sites);
  planning.alternatives = run.optimize && planning.sites > 1;
  planning.placed = [&catalogue,
                     sites = planning.sites](const Plan& input) -> std::optional<Placement> {
    if (query::is_at_hand(input)) return ia::round_robin(sites)(input);  // as a run has it
    const auto* named = std::get_if<op::Input>(&operator_of(input));
    const auto tensor = named == nullptr ? std::nullopt : catalogue.virtual_tensor(named->name);
    if (!tensor || tensor->partition_by.empty()) return std::nullopt;
    return Placement::part(tensor->partition_by, input.frontier(), sites);
  };
  return planning;
}

std::string text_of(const Outline& outline, const Analysis* analysis,
                    const ExplainOptions& wanted) {
  switch (wanted.format) {
    case ExplainOptions::Format::json: return session::json_text(outline, analysis);
    case ExplainOptions::Format::dot: return session::dot_text(outline, analysis, wanted.verbose);
    case ExplainOptions::Format::text: break;
  }
  if (analysis != nullptr) return session::analysis_text(outline, *analysis, wanted.verbose);
  std::string text = session::tree_text(outline);
  if (outline.in_frames()) text += "\n" + session::frames_text(outline);
  if (wanted.verbose) text += session::passes_text(outline);
  return text + session::parts_text(outline, wanted.verbose);
}

/// What IF NOT EXISTS leaves as it is; none if the statement has something to do.
std::optional<std::string> left_as_it_is(const sql::Statement& statement,
                                         const StoredDefinitions& catalogue) {
  const auto existing = [&](const auto* create) -> std::optional<std::string> {
    if (create == nullptr || !create->if_not_exists || !catalogue.kind(create->name)) return {};
    return create->name;
  };
  const auto table = existing(std::get_if<sql::CreateTable>(&statement.node));
  return table ? table : existing(std::get_if<sql::CreateTensor>(&statement.node));
}

}  // namespace

StatementResult Session::State::explain(const sql::Explain& statement) {
  const ExplainOptions wanted = session::explain_options(statement.options);
  StoredDefinitions catalogue(*snapshot);
  if (const auto name = left_as_it_is(*statement.statement, catalogue))
    return lines(fmt::format("\"{}\" already exists, skipping", *name));
  std::string text;
  if (statement.analyze) text = explained(statement, wanted, catalogue);
  // Of several processes the first one plans, as it does for what runs, and tells the others.
  text = session::text_by_first(*options.run.engine, "explain " + text_of_statement, [&] {
    return statement.analyze ? text : explained(statement, wanted, catalogue);
  });
  StatementResult told = lines(text);
  if (wanted.format == ExplainOptions::Format::json) told.document = "json";
  if (wanted.format == ExplainOptions::Format::dot) told.document = "dot";
  return told;
}

std::string Session::State::explained(const sql::Explain& statement, const ExplainOptions& wanted,
                                      StoredDefinitions& catalogue) {
  // For this statement alone there are other settings, and somebody who goes along.
  struct Restore {
    State& state;
    const RunOptions run;
    ~Restore() {
      state.options.run = run;
      state.observer = nullptr;
      state.runner = nullptr;
    }
  } const restore{*this, options.run};
  options.run.sites = wanted.sites.value_or(options.run.engine->sites(options.run));

  Computation computation = computation_of(*statement.statement, catalogue, statement.analyze);
  Outline outline;
  if (computation.tensors) {
    const bool several = computation.tensors->tensors.size() > 1;
    for (const session::PlannedTensor& one : computation.tensors->tensors)
      outline.tensors.emplace_back(several ? one.name : "", one.tensor);
    outline.program = computation.tensors->program;
  }
  for (const session::PlannedTensor& one : computation.selected)
    outline.tensors.emplace_back(computation.selected.size() > 1 ? one.name : "", one.tensor);
  if (statement.analyze) {
    if (computation.tensors) session::refuse_virtual(*computation.tensors);
    for (const session::PlannedTensor& one : computation.selected) session::refuse_virtual(one);
  }
  if (outline.tensors.empty() && !computation.tensors) {
    outline.queries = &computation.queries;
    outline.framing = &computation.framing;
  }
  session::Measurement measurement(outline.in_frames());
  if (statement.analyze)
    options.run.ended = [&, also = options.run.ended](const RunRecord& record) {
      measurement.ran(record);
      if (also) also(record);
    };
  Explainer explainer(
      outline, [&](const RunOptions& run) { return planning_for(wanted, catalogue, run); },
      statement.analyze ? &measurement : nullptr);
  observer = &explainer;
  runner = &explainer;
  // There may be very many frames, and each is planned when its inputs are there.
  if (statement.analyze || wanted.verbose || !outline.in_frames()) {
    Outcome outcome = outcome_of(computation, catalogue);
    if (statement.analyze)
      for (query::Value* value : outcome.shown(computation))
        (void)query::as_rows(*value, *texts, settings());
    // What is stored is planned and, with ANALYZE, computed; then it is dropped.
    if (const std::vector<Plan> stored = outcome.stored(); !stored.empty())
      (void)explainer.store(stored, outcome.run);
    outcome.changes = {};
    if (statement.analyze && outcome.changes_something()) commit(outcome);
  }
  outline.passes = session::as_in_pipeline(computation.passes);
  const Analysis measured = measurement.take();
  return text_of(outline, statement.analyze ? &measured : nullptr, wanted);
}

}  // namespace tessera
