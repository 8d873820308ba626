#include <algorithm>

#include "session/computation.h"
#include "session/state.h"

namespace tessera {

using query::Value;
using session::Computation;
using session::Outcome;
using session::Output;
using session::StoredDefinitions;

namespace {

constexpr std::int64_t most_steps = 100'000;  // of the loops of one statement

/// The value of an integer that may be made of loop variables.
std::int64_t constant(const sql::Expression& written, const std::vector<std::string>& names,
                      const std::vector<std::int64_t>& values, const char* what) {
  const auto bound = query::bind_constant(written, names);
  if (!query::is_integer(bound->type))
    lang::fail_type(written.location, "{}, not {}", what, sql::to_string(bound->type));
  const query::Cell value = query::evaluate(*bound, {}, values);
  if (value.is_null()) lang::fail_type(written.location, "{}, not NULL", what);
  return value.integer();
}

void collect(const std::vector<sql::ExecuteItem>& items, const std::vector<std::string>& names,
             const std::vector<std::int64_t>& values, StoredDefinitions& catalogue,
             std::int64_t& steps, std::vector<Output>& into) {
  for (const sql::ExecuteItem& item : items) {
    if (const auto* query = std::get_if<sql::QueryPtr>(&item)) {
      into.push_back({{*query, names, values}});
    } else if (const auto* materialize = std::get_if<sql::Materialize>(&item)) {
      query::Indices indices;
      for (const sql::IndexRange& index : materialize->table.indices) {
        constexpr const char* what = "each index of MATERIALIZE must be an integer";
        if (index.to) lang::fail_type(index.location, what);
        indices.push_back(constant(*index.from, names, values, what));
      }
      sql::Select all;
      all.items.push_back(
          {std::make_shared<const sql::Expression>(sql::Expression{sql::Star{}, {}})});
      sql::TableReference reference;
      reference.source = materialize->table;
      reference.location = materialize->location;
      all.from.push_back(std::move(reference));
      auto whole = std::make_shared<sql::Query>();
      whole->body = std::move(all);
      const std::string version =
          query::version_name(catalogue.exact_name(materialize->table.name), indices);
      catalogue.overlook(version);  // it is made anew, whoever reads it in this statement
      into.push_back({{whole, names, values}, version});
    } else {
      const sql::Loop& loop = *std::get<std::shared_ptr<const sql::Loop>>(item);
      constexpr const char* what = "loop bounds must be integers";
      const std::int64_t from = constant(*loop.from, names, values, what);
      const std::int64_t to = constant(*loop.to, names, values, what);
      if (from > to) continue;
      const auto more = static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
      if (more >= static_cast<std::uint64_t>(most_steps - steps))
        lang::fail_type(loop.from->location,
                        "{}...{}: the loops of one statement cannot run more than {} steps; split "
                        "the statement",
                        from, to, most_steps);
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

}  // namespace

std::vector<Output> session::outputs_of(const sql::Execute& statement,
                                        StoredDefinitions& catalogue) {
  std::vector<Output> outputs;
  std::int64_t steps = 0;
  collect(statement.items, {}, {}, catalogue, steps, outputs);
  return outputs;
}

StatementResult Session::State::execute(
    const sql::Execute& statement, const std::function<void(const StatementResult&)>& receive_one) {
  StoredDefinitions catalogue(*snapshot);
  Computation computation =
      computation_of(session::outputs_of(statement, catalogue), catalogue, true);
  Outcome outcome = outcome_of(computation, catalogue);
  const std::vector<Value*> shown = outcome.shown(computation);
  if (outcome.changes_something()) {
    // What has committed may not fail: all that is shown is read before.
    for (Value* value : shown) (void)query::as_rows(*value, *texts, settings());
    commit(outcome);
  }
  for (Value* value : shown)
    if (receive_one) {
      (void)query::as_rows(*value, *texts, settings());
      receive_one({"SELECT", session::result_of(*std::exchange(value->rows, std::nullopt))});
    }
  const auto queries = static_cast<std::int64_t>(shown.size());
  const std::int64_t versions = std::ssize(computation.outputs) - queries;
  std::string message;
  if (queries > 0) message = queries == 1 ? "ran 1 query" : fmt::format("ran {} queries", queries);
  if (versions > 0)
    message += (message.empty() ? "materialized " : ", materialized ") +
               session::count_text(versions, "table");
  return {"EXECUTE", {}, message.empty() ? "nothing to do" : message};
}

StatementResult Session::State::materialize(const sql::Materialize& statement,
                                            const sql::Statement& all) {
  if (statement.table.indices.empty())
    lang::fail_type(all.begin,
                    "MATERIALIZE needs a version of the table, such as MATERIALIZE {}[0]",
                    statement.table.name);
  StatementResult result = execute({{statement}}, {});
  result.command = "MATERIALIZE";
  return result;
}

}  // namespace tessera
