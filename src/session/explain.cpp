#include "exec/physical_plans.h"
#include "query/lowering/table.h"
#include "session/explain/dot.h"
#include "session/explain/json.h"
#include "session/explain/options.h"
#include "session/explain/text.h"
#include "session/state.h"

// EXPLAIN: what a statement would do, layer by layer, without doing it; with ANALYZE, what it took.

namespace tessera {

using lang::fail_type;
using session::Analysis;
using session::Catalogue;
using session::ExplainOptions;
using session::Outline;

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

/// The query of CREATE TABLE ... AS; none if the statement is another one.
const sql::CreateTable* table_of_query(const sql::Statement& statement) {
  const auto* table = std::get_if<sql::CreateTable>(&statement.node);
  return table != nullptr && table->query && table->indices.empty() ? table : nullptr;
}

query::Request request_of(const sql::CreateTable& table) {
  query::Request request{table.query};
  for (const sql::ColumnDefinition& column : table.columns)
    request.target_columns.push_back(column.name);
  return request;
}

/// The queries that a statement asks for; none if it computes a tensor.
std::optional<std::vector<query::Request>> requests_in(
    const sql::Statement& statement, Catalogue& catalogue,
    std::vector<query::Request> (*inside)(const sql::Execute&, Catalogue&)) {
  if (const auto* query = std::get_if<sql::QueryPtr>(&statement.node))
    return std::vector<query::Request>{{*query}};
  if (const auto* table = table_of_query(statement))
    return std::vector<query::Request>{request_of(*table)};
  if (const auto* execute = std::get_if<sql::Execute>(&statement.node))
    return inside(*execute, catalogue);
  if (const auto* version = std::get_if<sql::Materialize>(&statement.node))
    return inside({{*version}}, catalogue);
  const auto* tensor = std::get_if<sql::CreateTensor>(&statement.node);
  if (tensor == nullptr || !tensor->expression)
    fail_type(statement.begin,
              "EXPLAIN takes a query, CREATE TABLE ... AS, CREATE TENSOR ... AS, EXECUTE, or "
              "MATERIALIZE");
  return std::nullopt;
}

/// The plans that will run.
std::vector<OptimizedPlan> optimized(const Outline& outline, const RunOptions& options) {
  OptimizerOptions planning = exec::planning_options(options);
  planning.sites = options.sites;  // which EXPLAIN (SITES n) may have said
  planning.alternatives = options.optimize && options.sites > 1;
  planning.placed = outline.placed;
  std::vector<OptimizedPlan> parts;
  for (const session::Part& part : outline.parts) parts.push_back(optimize(part.plans, planning));
  return parts;
}

std::string plans_text(const Outline& outline, const std::vector<OptimizedPlan>& parts,
                       RunOptions options) {
  options.holes = Holes::allowed;
  std::string text;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const session::Part& part = outline.parts[p];
    text += "\n" + (part.what.empty() ? "" : "plan for " + part.what + "\n") + parts[p].explain();
    for (const Plan& plan : part.plans)
      if (session::has_data(plan)) text += forecast(plan, options).to_string() + "\n";
  }
  return text;
}

std::string graph_text(const Outline& outline, const std::vector<OptimizedPlan>& parts,
                       const Analysis* analysis) {
  if (outline.unrolled) return session::dot_text(outline, analysis);
  return analysis != nullptr ? session::dot_text(analysis->runs.front())
                             : session::dot_text(parts.front());
}

}  // namespace

/// Carries out what a statement computes, and keeps nothing of it: what it would store is computed
/// as it comes and dropped, and a job's relations go when it is done.
void Session::State::analyze(const sql::Statement& statement, const Outline& outline,
                             Catalogue& catalogue, session::Measurement& measurement) {
  watcher = &measurement;
  options.run.ended = [&, also = options.run.ended](const RunRecord& record) {
    measurement.ran(record);
    if (also) also(record);
  };
  const TupleSink nowhere = [](std::size_t, const Key&, const std::vector<Tile>&) {};
  const auto requests = requests_in(statement, catalogue, requests_of);
  if (!requests) {
    const session::PlannedTensor& tensor = *outline.tensor;
    if (!tensor.virtual_inputs.empty())
      fail_type(std::get<sql::CreateTensor>(statement.node).expression->place,
                "{} is virtual, a shape without data: the statement can be explained, not run",
                tensor.virtual_inputs.front());
    (void)run_into({tensor.tensor.plan}, nowhere, options.run);
    return;
  }
  Changes changes;
  std::vector<query::Value> values = evaluate(*requests, catalogue, changes);
  measurement.operators_end();
  if (std::holds_alternative<sql::QueryPtr>(statement.node)) {
    (void)query::as_rows(values.front(), *texts, settings());
  } else {
    std::vector<Plan> plans;
    for (const query::Value& value : values) {
      if (value.rows) continue;
      if (table_of_query(statement) == nullptr)
        plans.push_back(value.table->plan);
      else if (const auto stored = session::to_store(value, value.table->schema, *texts))
        plans.push_back(stored->plan);  // none if there are no rows
    }
    RunOptions run_options = options.run;
    run_options.holes = Holes::allowed;
    if (!plans.empty()) (void)run_into(plans, nowhere, run_options);
  }
  if (!changes.texts.empty()) commit(changes, options.run);
}

StatementResult Session::State::explain(const sql::Explain& statement) {
  const ExplainOptions wanted = session::explain_options(statement.options);
  // For this statement alone there are other settings, and somebody who watches.
  struct Restore {
    State& state;
    const RunOptions run;
    ~Restore() {
      state.options.run = run;
      state.watcher = nullptr;
    }
  } const restore{*this, options.run};
  const int processes = cluster_info().size;
  options.run.sites = wanted.sites.value_or(processes > 1 ? processes : options.run.sites);

  const sql::Statement& inner = *statement.statement;
  Catalogue catalogue(*snapshot);
  const auto requests = requests_in(inner, catalogue, requests_of);
  const Outline outline =
      requests ? session::outline_of(
                     *requests, catalogue, *texts,
                     {frame_history(), frame_limits(), options.by_rows, options.run.stop})
               : session::outline_of(std::get<sql::CreateTensor>(inner.node), *snapshot, catalogue,
                                     options.tile_size, options.run.sites, inner.begin);
  session::Measurement measurement(outline.in_frames());
  if (statement.analyze) analyze(inner, outline, catalogue, measurement);
  const Analysis measured = measurement.take();
  const Analysis* analysis = statement.analyze ? &measured : nullptr;
  const bool is_text = wanted.format == ExplainOptions::Format::text;
  if (is_text && analysis != nullptr) return lines(session::analysis_text(outline, *analysis));

  const std::vector<OptimizedPlan> parts = optimized(outline, options.run);
  if (wanted.format == ExplainOptions::Format::dot)
    return lines(graph_text(outline, parts, analysis));
  if (wanted.format == ExplainOptions::Format::json)
    return lines(session::json_text(outline, parts, analysis));
  std::string text = session::tree_text(outline);
  if (outline.in_frames()) text += "\n" + session::frames_text(outline);
  return lines(text + plans_text(outline, parts, options.run));
}

}  // namespace tessera
