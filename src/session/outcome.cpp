#include <algorithm>

#include "session/computation.h"
#include "session/sources.h"
#include "session/state.h"
#include "session/stored_result.h"
#include "session/tensor_result.h"

// From what a statement computes to what it comes to: rows to show, and changes of the database.

namespace tessera {

using query::Value;
using session::Computation;
using session::Outcome;
using session::Output;
using session::StoredDefinitions;

std::vector<Value*> Outcome::shown(const Computation& computation) {
  std::vector<Value*> all;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (computation.outputs[i].is_shown()) all.push_back(&values[i]);
  return all;
}

std::vector<Plan> Outcome::stored() const {
  std::vector<Plan> plans;
  for (const auto& [name, plan] : changes.results) plans.push_back(plan);
  return plans;
}

Outcome Session::State::outcome_of(Computation& computation, StoredDefinitions& catalogue) {
  Outcome made;
  made.run = options.run;
  if (computation.tensors) {
    for (const session::PlannedTensor& one : computation.tensors->tensors)
      made.changes.results.emplace_back(one.name, one.tensor.plan);
    return made;
  }
  if (!computation.selected.empty()) {
    session::compute(computation.selected, settings());
    return made;
  }
  made.run.holes = Holes::allowed;
  const std::vector<Output>& outputs = computation.outputs;
  std::vector<std::string> sources;
  if (std::any_of(outputs.begin(), outputs.end(),
                  [](const Output& output) { return output.version.has_value(); }))
    sources = session::sources_of_each(computation.queries, computation.tables, catalogue);
  made.values = evaluate(computation, made.of_job);
  // Results that are shown run together, and so do those that are stored. In a statement that is
  // only planned, no such run is planned where one of them is not known yet.
  const auto all_known = [&](bool shown) {
    const auto is_known = [&](std::size_t i) {
      return outputs[i].is_shown() != shown || made.values[i].is_known();
    };
    bool all = true;
    for (std::size_t i = 0; i < outputs.size(); ++i) all = all && is_known(i);
    for (std::size_t i = 0; i < outputs.size() && !all; ++i) {
      if (outputs[i].is_shown() != shown || !made.values[i].is_known()) continue;
      observer->operator_begins(
          query::result_of(computation.queries, computation.queries.wanted[i]));
      observer->known_later("it runs together with others, which are not computed yet");
    }
    return all;
  };
  const bool shows = all_known(true), stores = all_known(false);
  if (observer != nullptr) observer->results_begin();
  if (shows) query::compute_together(made.shown(computation), settings());
  for (std::size_t i = 0; i < outputs.size() && stores; ++i) {
    if (outputs[i].version)
      session::store_as_version(*outputs[i].version, made.values[i], sources[i], catalogue, *texts,
                                options.run, made.changes);
    else if (outputs[i].table != nullptr)
      session::store_as_table(*outputs[i].table, made.values[i], *texts, options.run, made.changes);
  }
  return made;
}

StatementResult Session::State::query(const sql::QueryPtr& query) {
  StoredDefinitions catalogue(*snapshot);
  Computation computation = computation_of(query, catalogue, true);
  for (const session::PlannedTensor& tensor : computation.selected) session::refuse_virtual(tensor);
  Outcome outcome = outcome_of(computation, catalogue);
  if (!computation.selected.empty())
    return {"SELECT", session::result_of(computation.selected, options.run)};
  query::Value& value = outcome.values.front();
  (void)query::as_rows(value, *texts, settings());
  StatementResult result{"SELECT", session::result_of(*std::exchange(value.rows, std::nullopt))};
  if (outcome.changes_something()) commit(outcome);
  return result;
}

Snapshot Session::State::commit(Outcome& outcome) {
  Changes& changes = outcome.changes;
  changes.dropped.insert(changes.dropped.end(), outcome.of_job.dropped.begin(),
                         outcome.of_job.dropped.end());
  changes.texts.merge(outcome.of_job.texts);
  return commit(changes, outcome.run);
}

}  // namespace tessera
