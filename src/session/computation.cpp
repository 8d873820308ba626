#include "session/computation.h"

#include <algorithm>

#include "base/check.h"
#include "exec/engine.h"
#include "optimizer/passes.h"
#include "session/job_name.h"
#include "session/pipeline.h"
#include "session/sources.h"
#include "session/state.h"
#include "session/tensor_selection.h"
#include "store/json_fields.h"

// From a statement to what it computes, and on to its values.

namespace tessera {

using lang::fail_type;
using query::Value;
using session::Computation;
using session::Output;
using session::StoredDefinitions;

namespace {

constexpr const char* history_text = "frames/history";

}  // namespace

frames::Limits Session::State::frame_limits() const {
  const bool several = options.run.engine->sites(options.run) > 1;
  const int chosen = several ? 100 : 2500;
  const int most = options.frame_size > 0 ? options.frame_size : chosen;
  return {std::max(1, most / 4), most};
}

frames::History Session::State::frame_history() const {
  const auto text = database.text(history_text);
  if (!text) return {};
  return store::read_stored("the frames of earlier statements",
                            [&] { return frames::History::from_text(*text); });
}

Computation Session::State::computation_of(std::vector<Output> outputs,
                                           StoredDefinitions& catalogue, bool will_run) {
  Computation made;
  std::vector<query::Request> requests;
  for (const Output& output : outputs) {
    requests.push_back(output.request);
    // A name may be that of a loop variable there.
    const sql::QueryPtr& query = output.request.query;
    if (output.request.names.empty() && session::selects_tensors(*query, *snapshot, catalogue))
      fail_type(query->location,
                "a SELECT of whole tensors must be a statement of its own; to store what it "
                "computes, use CREATE TENSOR ... AS");
  }
  made.outputs = std::move(outputs);
  optimizer::take_pass(made.passes, session::unroll_pass, [&] {
    made.queries = query::unroll(requests, catalogue, options.run.stop);
  });
  made.passes.back().seconds -= made.queries.binding_seconds;
  made.passes.push_back({session::bind_pass.name, made.queries.binding_seconds});
  for (const std::string& name : made.queries.stored) made.tables.push_back(catalogue.value(name));
  const frames::Limits limits = frame_limits();
  frames::History history;
  if (made.queries.operators() > limits.max_size) {
    const std::string name =
        session::job_name(requests, made.queries, made.tables, values_given, catalogue, limits);
    // Where nothing may be written, frames are kept elsewhere, and nobody else knows of them.
    if (will_run && database.is_read_only())
      frames_elsewhere = Database::temporary();
    else if (will_run)
      take_job(name);
    // One that was killed goes on with the frames it began with.
    const auto begun = session::history_of_job(database, name);
    history = begun ? frames::History::from_text(*begun) : frame_history();
    made.job = {name, text_of_statement, history.to_text(),
                session::sources_of_all(made.queries, made.tables, catalogue)};
  }
  optimizer::take_pass(made.passes, session::frame_pass, [&] {
    made.framing = query::framed(made.queries, history, limits, options.run.stop);
  });
  return made;
}

Computation Session::State::computation_of(const sql::Statement& statement,
                                           StoredDefinitions& catalogue, bool will_run) {
  if (const auto* query = std::get_if<sql::QueryPtr>(&statement.node))
    return computation_of(*query, catalogue, will_run);
  if (const auto* table = std::get_if<sql::CreateTable>(&statement.node);
      table != nullptr && table->query && table->indices.empty())
    return computation_of(*table, catalogue, will_run);
  if (const auto* execute = std::get_if<sql::Execute>(&statement.node))
    return computation_of(session::outputs_of(*execute, catalogue), catalogue, will_run);
  if (const auto* version = std::get_if<sql::Materialize>(&statement.node))
    return computation_of(session::outputs_of({{*version}}, catalogue), catalogue, will_run);
  const auto* tensor = std::get_if<sql::CreateTensor>(&statement.node);
  if (tensor == nullptr || !tensor->is_computed())
    fail_type(statement.begin,
              "EXPLAIN supports only queries, CREATE TABLE ... AS, CREATE TENSOR ... AS, EXECUTE "
              "and MATERIALIZE");
  return computation_of(*tensor, catalogue, statement.begin, will_run);
}

Computation Session::State::computation_of(const sql::QueryPtr& query, StoredDefinitions& catalogue,
                                           bool will_run) {
  if (!session::selects_tensors(*query, *snapshot, catalogue))
    return computation_of(std::vector<Output>{{{query}}}, catalogue, will_run);
  Computation made;
  optimizer::take_pass(made.passes, session::lower_pass, [&] {
    made.selected = session::selected_tensors(*query, *snapshot, catalogue);
  });
  return made;
}

Computation Session::State::computation_of(const sql::CreateTable& statement,
                                           StoredDefinitions& catalogue, bool will_run) {
  session::refuse_taken(catalogue, statement, statement.query->location);
  std::vector<std::string> names;
  for (const sql::ColumnDefinition& column : statement.columns) names.push_back(column.name);
  return computation_of({{{statement.query, {}, {}, std::move(names)}, {}, &statement}}, catalogue,
                        will_run);
}

Computation Session::State::computation_of(const sql::CreateTensor& statement,
                                           StoredDefinitions& catalogue, lang::Location location,
                                           bool will_run) {
  session::refuse_taken(catalogue, statement, location);
  for (auto other = statement.others.begin(); other != statement.others.end(); ++other) {
    if (!statement.or_replace) session::refuse_taken(catalogue, *other, location);
    const auto same = [&](const std::string& name) { return query::same_name(name, *other); };
    if (same(statement.name) || std::any_of(statement.others.begin(), other, same))
      fail_type(location, "tensor \"{}\" is named twice", *other);
  }
  Computation made;
  // Loops that run in sequence run now, and nothing is stored before all of them have.
  const query::RunPlans run = [this](const std::vector<Plan>& plans) {
    return tessera::run(plans, options.run);
  };
  optimizer::take_pass(made.passes, session::lower_pass, [&] {
    made.tensors = session::planned(statement, *snapshot, catalogue, options.tile_size,
                                    will_run ? run : nullptr, location);
  });
  return made;
}

std::vector<Value> Session::State::evaluate(Computation& computation, Changes& changes) {
  PassUse lowering{session::lower_pass.name};
  query::Settings how = settings();
  how.lowering_seconds = &lowering.seconds;
  session::Job work(computation.queries, computation.framing, computation.tables, computation.job,
                    frames_elsewhere ? *frames_elsewhere : database, *texts, how);
  std::vector<Value> results = work.run();
  computation.passes.push_back(lowering);
  if (frames_elsewhere) return results;  // what is kept there goes with it
  work.clean_up(changes);
  if (computation.in_frames()) {
    frames::History history = frame_history();
    history.merge(work.history());
    changes.texts[history_text] = history.to_text();
  }
  return results;
}

Value Session::State::evaluate(const query::Request& request, StoredDefinitions& catalogue,
                               Changes& changes) {
  Computation computation = computation_of({{request}}, catalogue, true);
  return evaluate(computation, changes).front();
}

}  // namespace tessera
