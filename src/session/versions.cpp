#include "database/names.h"
#include "query/versions/rule_columns.h"
#include "query/versions/version_range.h"
#include "session/sources.h"
#include "session/state.h"
#include "store/hidden_names.h"

// Versioned tables: their rules, and which versions are stored.

namespace tessera {

using lang::fail_type;
using session::StoredDefinitions;

namespace session {

ResultTable described_versions(StoredDefinitions& catalogue, const std::string& table) {
  std::vector<std::vector<std::string>> rows;
  for (const query::VersionRule& rule : *catalogue.rules(table))
    rows.push_back({rule.head(), rule.text()});
  SourceCheck check(catalogue);
  for (const std::string& version : catalogue.versions_of(table)) {
    const std::string why = check.why_outdated(version);
    rows.push_back({store::shown_name(version),
                    why.empty() ? "materialized" : "materialized; outdated: " + why});
  }
  return text_table({"versions", "definition"}, rows);
}

}  // namespace session

namespace {

/// The stored versions of a table, for messages.
std::string stored_text(const StoredDefinitions& catalogue, const std::string& table) {
  constexpr std::size_t shown = 10;
  const std::vector<std::string> versions = catalogue.versions_of(table);
  std::string text;
  for (std::size_t v = 0; v < versions.size() && v < shown; ++v)
    text += (text.empty() ? "" : ", ") + store::shown_name(versions[v]);
  if (versions.size() > shown) text += fmt::format(" and {} more", versions.size() - shown);
  return text.empty() ? "none" : text;
}

}  // namespace

StatementResult Session::State::create_rule(const sql::CreateTable& statement,
                                            std::string_view text) {
  StoredDefinitions catalogue(*snapshot);
  const query::VersionRule rule(statement, std::string(text));
  const lang::Location location = statement.indices[0].location;
  lang::at_location(location, [&] { check_name(statement.name); });
  if (statement.name.find_first_of("[]") != std::string::npos)
    fail_type(location,
              "invalid name \"{}\": the name of a versioned table cannot contain brackets",
              statement.name);
  const auto kind = catalogue.kind(statement.name);
  if (kind && *kind != StoredDefinitions::Kind::versions)
    fail_type(location, "{} \"{}\" already exists and has no versions", session::kind_name(*kind),
              catalogue.exact_name(statement.name));
  const std::string name = catalogue.exact_name(statement.name);
  if (const auto* rules = catalogue.rules(name))
    for (const query::VersionRule& other : *rules) {
      if (other.arity() != rule.arity())
        fail_type(location, "wrong number of indices for table \"{}\": expected {}, found {}", name,
                  other.arity(), rule.arity());
      if (rule.head() == other.head())
        fail_type(location, "rule {} already exists; DROP TABLE {} drops all rules and versions",
                  rule.head(), name);
      if (const auto both = query::overlap(rule, other))
        fail_type(location, "rules {} and {} both define {}", rule.head(), other.head(),
                  query::version_name(name, *both));
      const auto here = query::columns_told(rule), there = query::columns_told(other);
      if (here && there)
        query::refuse_disagreement(other, *there, rule, *here,
                                   statement.columns.empty() ? statement.query->location
                                                             : statement.columns.front().location);
    }
  Changes changes;
  changes.texts[session::rule_text(name, catalogue.next_rule(name))] = std::string(text);
  commit(changes, options.run);
  return {"CREATE TABLE", {}, fmt::format("created rule {}", rule.head())};
}

StatementResult Session::State::drop_versions(const sql::Drop& statement, lang::Location location) {
  StoredDefinitions catalogue(*snapshot);
  const auto* rules = catalogue.rules(statement.name);
  if (rules == nullptr && statement.if_exists && !catalogue.kind(statement.name))
    return {"DROP TABLE", {}, fmt::format("table {} does not exist, skipping", statement.name)};
  if (rules == nullptr && catalogue.kind(statement.name))
    fail_type(location, "\"{}\" has no versions; omit the index",
              catalogue.exact_name(statement.name));
  if (rules == nullptr)
    fail_type(location, "table \"{}\" not found; {}", statement.name,
              catalogue.instead_of(statement.name));
  const std::string name = catalogue.exact_name(statement.name);
  if (std::cmp_not_equal(statement.indices.size(), rules->front().arity()))
    fail_type(statement.indices[0].location,
              "wrong number of indices for table \"{}\": expected {}, found {}", name,
              rules->front().arity(), statement.indices.size());
  Changes changes;
  std::int64_t reads = 0;
  query::for_each_version(
      statement.indices, {}, {}, reads, options.run.stop, [&](const query::Indices& indices) {
        const auto version = catalogue.materialised(query::version_name(name, indices));
        if (!version) return;
        changes.texts[session::table_text(*version)] = std::nullopt;
        if (catalogue.has_tuples(*version)) changes.dropped.push_back(*version);
      });
  if (changes.texts.empty()) {
    if (statement.if_exists) return {"DROP TABLE", {}, "no such version is materialized, skipping"};
    fail_type(statement.indices[0].location,
              "no such version is materialized; materialized versions: {}",
              stored_text(catalogue, name));
  }
  const auto count = static_cast<std::int64_t>(changes.texts.size());
  commit(changes, options.run);
  return {"DROP TABLE",
          {},
          fmt::format("dropped {} of {}", session::count_text(count, "version"), name)};
}

}  // namespace tessera
