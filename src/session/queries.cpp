#include <algorithm>

#include "session/job.h"
#include "session/job_name.h"
#include "session/sources.h"
#include "session/state.h"
#include "store/json_fields.h"

namespace tessera {

using query::Request;
using query::Value;
using session::Catalogue;

namespace {

constexpr const char* history_text = "frames/history";

}  // namespace

frames::Limits Session::State::frame_limits() const {
  const bool several = options.run.sites > 1 || cluster_info().size > 1;
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

std::vector<Value> Session::State::evaluate(const std::vector<Request>& requests,
                                            Catalogue& catalogue, Changes& changes,
                                            std::vector<std::string>* sources) {
  const query::Unrolled plan = query::unroll(requests, catalogue, options.run.stop);
  std::vector<Value> tables;
  for (const std::string& name : plan.stored) tables.push_back(catalogue.value(name));
  if (sources != nullptr) *sources = session::sources_of_each(plan, tables, catalogue);
  const frames::Limits limits = frame_limits();
  const bool in_frames = plan.operators() > limits.max_size;
  session::Job::Identity identity;
  if (in_frames) {
    identity = {session::job_name(requests, plan, tables, values_given, catalogue, limits),
                text_of_statement, frame_history().to_text(),
                session::sources_of_all(plan, tables, catalogue)};
    take_job(identity.name);
    // One that was killed goes on with the frames it began with.
    if (const auto begun = session::history_of_job(database, identity.name))
      identity.history = *begun;
  }
  query::Framing framing =
      query::framed(plan, frames::History::from_text(identity.history), limits, options.run.stop);
  session::Job work(plan, std::move(framing), tables, identity, database, *texts, settings());
  std::vector<Value> results = work.run();
  work.clean_up(changes);
  if (in_frames) {
    frames::History history = frame_history();
    history.merge(work.history());
    changes.texts[history_text] = history.to_text();
  }
  return results;
}

StatementResult Session::State::query(const sql::QueryPtr& query) {
  Catalogue catalogue(*snapshot);
  Changes changes;
  std::vector<Value> values = evaluate({{query}}, catalogue, changes);
  StatementResult result{"SELECT",
                         session::result_of(query::as_rows(values[0], *texts, settings()))};
  if (!changes.texts.empty()) commit(changes, options.run);
  return result;
}

namespace {

/// What the items inside EXECUTE ( ... ) ask for, loops run out.
struct Wish {
  Request request;
  std::optional<std::string> version = {};  // to be stored under this name
};

constexpr std::int64_t most_steps = 100'000;  // of the loops of one statement

/// The value of an integer that may be made of loop variables.
std::int64_t constant(const sql::Expression& written, const std::vector<std::string>& names,
                      const std::vector<std::int64_t>& values, const char* what) {
  const auto bound = query::bind_constant(written, names);
  if (!query::is_integer(bound->type))
    lang::fail_type(written.place, "{}, and this is {}", what, sql::to_string(bound->type));
  const query::Cell value = query::evaluate(*bound, {}, values);
  if (value.is_null()) lang::fail_type(written.place, "{}, and this is NULL", what);
  return value.integer();
}

void collect(const std::vector<sql::ExecuteItem>& items, const std::vector<std::string>& names,
             const std::vector<std::int64_t>& values, Catalogue& catalogue, std::int64_t& steps,
             std::vector<Wish>& into) {
  for (const sql::ExecuteItem& item : items) {
    if (const auto* query = std::get_if<sql::QueryPtr>(&item)) {
      into.push_back({{*query, names, values}});
    } else if (const auto* materialize = std::get_if<sql::Materialize>(&item)) {
      query::Indices indices;
      for (const sql::IndexRange& index : materialize->table.indices) {
        constexpr const char* what = "MATERIALIZE takes one version: an integer for each index";
        if (index.to) lang::fail_type(index.place, what);
        indices.push_back(constant(*index.from, names, values, what));
      }
      sql::Select all;
      all.items.push_back(
          {std::make_shared<const sql::Expression>(sql::Expression{sql::Star{}, {}})});
      sql::TableReference reference;
      reference.source = materialize->table;
      reference.place = materialize->place;
      all.from.push_back(std::move(reference));
      auto whole = std::make_shared<sql::Query>();
      whole->body = std::move(all);
      const std::string version =
          query::version_name(catalogue.exact_name(materialize->table.name), indices);
      catalogue.overlook(version);  // it is made anew, whoever reads it in this statement
      into.push_back({{whole, names, values}, version});
    } else {
      const sql::Loop& loop = *std::get<std::shared_ptr<const sql::Loop>>(item);
      constexpr const char* what = "a loop runs over integers";
      const std::int64_t from = constant(*loop.from, names, values, what);
      const std::int64_t to = constant(*loop.to, names, values, what);
      if (from > to) continue;
      const auto more = static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
      if (more >= static_cast<std::uint64_t>(most_steps - steps))
        lang::fail_type(
            loop.from->place,
            "{}...{}: the loops of a statement have more than {} steps; run it in parts", from, to,
            most_steps);
      steps += static_cast<std::int64_t>(more) + 1;
      for (std::int64_t value = from; value <= to; ++value) {
        std::vector<std::string> inner_names = names;
        std::vector<std::int64_t> inner_values = values;
        // A loop inside hides what is called the same outside.
        const auto hidden = std::find_if(
            inner_names.begin(), inner_names.end(),
            [&](const std::string& name) { return query::same_name(name, loop.variable); });
        if (hidden != inner_names.end()) {
          inner_values[static_cast<std::size_t>(hidden - inner_names.begin())] = value;
        } else {
          inner_names.push_back(loop.variable);
          inner_values.push_back(value);
        }
        collect(loop.body, inner_names, inner_values, catalogue, steps, into);
        if (value == to) break;  // which may be the last integer
      }
    }
  }
}

/// What is to be changed so that a version is stored, in the place of what it was before.
void store_version(const std::string& relation, const Value& value, const std::string& sources,
                   const Catalogue& catalogue, query::Dictionary& texts, Changes& changes) {
  const std::string text_name = session::table_text(relation);
  if (changes.texts.contains(text_name)) return;  // the statement names it twice
  const query::Schema& schema = value.table ? value.table->schema : value.rows->schema;
  const auto stored = session::to_store(value, schema, texts);
  if (catalogue.has_tuples(relation)) changes.dropped.push_back(relation);
  if (stored) session::add_result(changes, relation, *stored);
  session::TableDefinition definition =
      stored ? session::definition_of(stored->text) : session::TableDefinition{schema, {}};
  definition.sources = sources;
  changes.texts[text_name] = session::to_text(definition);
}

}  // namespace

std::vector<Request> Session::State::requests_of(const sql::Execute& statement,
                                                 Catalogue& catalogue) {
  std::vector<Wish> wishes;
  std::int64_t steps = 0;
  collect(statement.items, {}, {}, catalogue, steps, wishes);
  std::vector<Request> requests;
  for (Wish& wish : wishes) requests.push_back(std::move(wish.request));
  return requests;
}

StatementResult Session::State::execute(
    const sql::Execute& statement, const std::function<void(const StatementResult&)>& receive_one) {
  Catalogue catalogue(*snapshot);
  std::vector<Wish> wishes;
  std::int64_t steps = 0;
  collect(statement.items, {}, {}, catalogue, steps, wishes);
  std::vector<Request> requests;
  for (const Wish& wish : wishes) requests.push_back(wish.request);
  const bool stores = std::any_of(wishes.begin(), wishes.end(),
                                  [](const Wish& wish) { return wish.version.has_value(); });
  std::vector<std::string> sources;
  Changes changes;
  const std::vector<Value> values =
      evaluate(requests, catalogue, changes, stores ? &sources : nullptr);

  // All plans run as one, so that what they share is computed once.
  std::vector<Plan> plans;
  std::vector<std::size_t> whose;
  std::int64_t stored_versions = 0;
  for (std::size_t w = 0; w < wishes.size(); ++w) {
    if (wishes[w].version) {
      ++stored_versions;
      store_version(session::version_relation(*wishes[w].version), values[w], sources[w], catalogue,
                    *texts, changes);
    } else if (!values[w].rows) {
      plans.push_back(values[w].table->plan);
      whose.push_back(w);
    }
  }
  RunOptions run_options = options.run;
  run_options.holes = Holes::allowed;
  std::vector<Relation> relations;
  if (!plans.empty()) relations = tessera::run(plans, run_options);
  if (!changes.texts.empty()) commit(changes, run_options);
  std::int64_t shown = 0;
  for (std::size_t w = 0; w < wishes.size(); ++w) {
    if (wishes[w].version) continue;
    query::Rows rows;
    if (values[w].rows) {
      rows = *values[w].rows;
    } else {
      const auto at = std::find(whose.begin(), whose.end(), w) - whose.begin();
      rows = query::rows_of({values[w].table->schema, values[w].table->places,
                             Plan::input(relations[static_cast<std::size_t>(at)])},
                            *texts);
    }
    ++shown;
    if (receive_one) receive_one({"SELECT", session::result_of(std::move(rows))});
  }
  std::string message;
  if (shown > 0)
    message = session::count_text(shown, "query") == "1 query" ? "1 query"
                                                               : fmt::format("{} queries", shown);
  if (stored_versions > 0)
    message += (message.empty() ? "" : ", ") + session::count_text(stored_versions, "table") +
               " materialized";
  return {"EXECUTE", {}, message.empty() ? "nothing to do" : message};
}

StatementResult Session::State::materialize(const sql::Materialize& statement,
                                            const sql::Statement& all) {
  if (statement.table.indices.empty())
    lang::fail_type(all.begin, "MATERIALIZE takes a version of a table, as in MATERIALIZE {}[0]",
                    statement.table.name);
  StatementResult result = execute({{statement}}, {});
  result.command = "MATERIALIZE";
  return result;
}

}  // namespace tessera
