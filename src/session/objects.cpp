#include <algorithm>

#include "base/bytes.h"
#include "query/tensors/constructor.h"
#include "session/state.h"
#include "session/tensor_kind.h"

// Statements about what there is: DROP, ALTER ... RENAME, DESCRIBE, SHOW.

namespace tessera {

using lang::fail_type;
using session::StoredDefinitions;

std::string_view session::kind_name(StoredDefinitions::Kind kind) {
  switch (kind) {
    case StoredDefinitions::Kind::table: return "table";
    case StoredDefinitions::Kind::tensor: return "tensor";
    case StoredDefinitions::Kind::virtual_tensor: return "virtual tensor";
    case StoredDefinitions::Kind::view: return "view";
    case StoredDefinitions::Kind::versions: break;
  }
  return "versioned table";
}

namespace {

bool is_kind(StoredDefinitions::Kind kind, sql::ObjectKind wanted) {
  switch (wanted) {
    case sql::ObjectKind::table:
      return kind == StoredDefinitions::Kind::table || kind == StoredDefinitions::Kind::versions;
    case sql::ObjectKind::tensor:
      return kind == StoredDefinitions::Kind::tensor ||
             kind == StoredDefinitions::Kind::virtual_tensor;
    case sql::ObjectKind::view: return kind == StoredDefinitions::Kind::view;
  }
  return false;
}

std::string_view kind_word(sql::ObjectKind kind) {
  switch (kind) {
    case sql::ObjectKind::table: return "TABLE";
    case sql::ObjectKind::tensor: return "TENSOR";
    case sql::ObjectKind::view: break;
  }
  return "VIEW";
}

std::string_view kind_name(sql::ObjectKind kind) {
  switch (kind) {
    case sql::ObjectKind::table: return "table";
    case sql::ObjectKind::tensor: return "tensor";
    case sql::ObjectKind::view: break;
  }
  return "view";
}

/// The name as it was created. ErrorAt if there is none, or it is something else.
std::string find(StoredDefinitions& catalogue, const std::string& name, sql::ObjectKind wanted,
                 lang::Location location) {
  const auto kind = catalogue.kind(name);
  if (!kind)
    fail_type(location, "{} \"{}\" not found; {}", kind_name(wanted), name,
              catalogue.instead_of(name));
  if (!is_kind(*kind, wanted))
    fail_type(location, "\"{}\" is a {}, not a {}", catalogue.exact_name(name),
              session::kind_name(*kind), kind_name(wanted));
  return catalogue.exact_name(name);
}

/// Everything that belongs to a name: the relations, and the texts that define it.
void collect(StoredDefinitions& catalogue, const Snapshot& snapshot, const std::string& name,
             std::vector<std::string>& relations, std::vector<std::string>& texts) {
  switch (*catalogue.kind(name)) {
    case StoredDefinitions::Kind::tensor: relations.push_back(name); return;
    case StoredDefinitions::Kind::virtual_tensor:
      texts.push_back(session::virtual_text(name));
      return;
    case StoredDefinitions::Kind::view: texts.push_back(session::view_text(name)); return;
    case StoredDefinitions::Kind::table:
      if (catalogue.has_tuples(name)) relations.push_back(name);
      texts.push_back(session::table_text(name));
      return;
    case StoredDefinitions::Kind::versions: break;
  }
  for (const auto& [key, text] : snapshot.texts(session::rule_texts(name))) texts.push_back(key);
  for (const std::string& version : catalogue.versions_of(name)) {
    if (catalogue.has_tuples(version)) relations.push_back(version);
    texts.push_back(session::table_text(version));
  }
}

}  // namespace

void session::drop_replaced(StoredDefinitions& catalogue, const Snapshot& snapshot,
                            const std::string& name, Changes& changes) {
  if (!catalogue.kind(name)) return;
  std::vector<std::string> definitions;
  collect(catalogue, snapshot, catalogue.exact_name(name), changes.dropped, definitions);
  // The new one may have a definition in the same place.
  for (const std::string& text : definitions) changes.texts.emplace(text, std::nullopt);
}

StatementResult Session::State::drop(const sql::Drop& statement, lang::Location location) {
  if (!statement.indices.empty()) return drop_versions(statement, location);
  StoredDefinitions catalogue(*snapshot);
  const std::string command = fmt::format("DROP {}", kind_word(statement.kind));
  if (statement.if_exists && !catalogue.kind(statement.name))
    return {
        command,
        {},
        fmt::format("{} {} does not exist, skipping", kind_name(statement.kind), statement.name)};
  const std::string name = find(catalogue, statement.name, statement.kind, location);
  Changes changes;
  std::vector<std::string> definitions;
  collect(catalogue, *snapshot, name, changes.dropped, definitions);
  for (const std::string& text : definitions) changes.texts[text] = std::nullopt;
  commit(changes, options.run);
  return {command, {}, fmt::format("dropped {} {}", kind_name(statement.kind), name)};
}

StatementResult Session::State::rename(const sql::Rename& statement, lang::Location location) {
  StoredDefinitions catalogue(*snapshot);
  const std::string from = find(catalogue, statement.from, statement.kind, location);
  if (*catalogue.kind(from) == StoredDefinitions::Kind::versions)
    fail_type(location,
              "cannot rename versioned table \"{}\", because its definitions refer to it by name",
              from);
  session::refuse_taken(catalogue, statement.to, location);
  Changes changes;
  std::vector<std::string> relations, definitions;
  collect(catalogue, *snapshot, from, relations, definitions);
  for (const std::string& relation : relations)
    changes.renamed.emplace_back(relation, statement.to);
  for (const std::string& text : definitions) {
    changes.texts[text.substr(0, text.size() - from.size()) + statement.to] = snapshot->text(text);
    changes.texts[text] = std::nullopt;
  }
  commit(changes, options.run);
  return {fmt::format("ALTER {}", kind_word(statement.kind)),
          {},
          fmt::format("renamed {} {} to {}", kind_name(statement.kind), from, statement.to)};
}

StatementResult Session::State::describe(const sql::Describe& statement, lang::Location location) {
  StoredDefinitions catalogue(*snapshot);
  const auto kind = catalogue.kind(statement.name);
  if (!kind)
    fail_type(location, "table or view \"{}\" not found; {}", statement.name,
              catalogue.instead_of(statement.name));
  const std::string name = catalogue.exact_name(statement.name);
  if (*kind == StoredDefinitions::Kind::versions)
    return {"DESCRIBE", session::described_versions(catalogue, name)};
  query::Schema schema;
  std::vector<std::string> roles;
  if (*kind == StoredDefinitions::Kind::view) {
    auto all = std::make_shared<sql::Query>();
    sql::Select select;
    select.items.push_back(
        {std::make_shared<const sql::Expression>(sql::Expression{sql::Star{}, location})});
    select.from.push_back({sql::TableName{name}, "", {}, {}, location});
    all->body = std::move(select);
    schema = query::unroll({{all}}, catalogue, options.run.stop).instances.back().of->root->schema;
    roles.resize(schema.size());
  } else {
    const session::TableDefinition definition = catalogue.table(name);
    schema = definition.schema;
    for (std::size_t c = 0; c < schema.size(); ++c) {
      const bool is_key =
          c < definition.origins.size() && std::holds_alternative<KeyExpr>(definition.origins[c]);
      roles.push_back(is_key ? "key" : "");
    }
    // What the tiles of a tensor are together.
    if (*kind == StoredDefinitions::Kind::tensor)
      if (const StoredInfo info = snapshot->info(name); info.shape) {
        const TileType& tile = info.type.columns.at(0).type;
        const bool is_sparse = info.type.presence == Presence::sparse || tile.is_sparse();
        roles.back() = session::tensor_kind(
            {tile.dtype, *info.shape},
            is_sparse ? std::optional(info.statistics.nonzeros) : std::nullopt);
      }
  }
  std::vector<std::vector<std::string>> rows;
  for (std::size_t c = 0; c < schema.size(); ++c)
    rows.push_back({schema[c].name, sql::to_string(schema[c].type), roles[c]});
  return {"DESCRIBE", session::text_table({"column", "type", "role"}, rows)};
}

StatementResult Session::State::show(const sql::Show& statement, lang::Location location) {
  StoredDefinitions catalogue(*snapshot);
  const auto is = [&](std::string_view what) { return query::same_name(statement.what, what); };
  std::vector<std::vector<std::string>> rows;
  if (is("tables") || is("tensors") || is("views")) {
    for (const auto& [name, kind] : catalogue.all()) {
      const bool wanted = is("tables") ||
                          (is("tensors") && is_kind(kind, sql::ObjectKind::tensor)) ||
                          (is("views") && kind == StoredDefinitions::Kind::view);
      if (!wanted) continue;
      std::string count, bytes;
      if (catalogue.has_tuples(name)) {
        const StoredInfo info = snapshot->info(name);
        count = std::to_string(info.statistics.tuples);
        bytes = bytes_text(info.bytes);
      } else if (kind == StoredDefinitions::Kind::table) {
        count = "0";
      }
      rows.push_back({name, std::string(kind_name(kind)), count, bytes});
    }
    return {"SHOW", session::text_table({"name", "kind", "rows", "bytes"}, rows)};
  }
  if (is("functions")) {
    for (const auto& kernel : all_kernels()) rows.push_back({kernel->name, kernel->description});
    for (const auto& [alias, call] : all_aliases()) rows.push_back({alias, "same as " + call});
    for (const auto& [name, description] : query::constructors())
      rows.push_back({std::string(name), std::string(description)});
    std::sort(rows.begin(), rows.end());
    return {"SHOW", session::text_table({"function", "description"}, rows)};
  }
  if (is("history")) {
    for (const PastRun& run : snapshot->history())
      rows.push_back({run.at, run.name, fmt::format("{:.3f}", run.seconds),
                      std::to_string(run.tasks), bytes_text(run.peak_bytes)});
    return {"SHOW", session::text_table({"at", "result", "seconds", "tasks", "memory"}, rows)};
  }
  if (is("settings")) {
    rows = settings_text();
    return {"SHOW", session::text_table({"name", "value", "description"}, rows)};
  }
  if (is("jobs")) return {"SHOW", jobs_text()};
  fail_type(location,
            "cannot SHOW {}; available: TABLES, TENSORS, VIEWS, FUNCTIONS, SETTINGS, HISTORY, JOBS",
            statement.what);
}

}  // namespace tessera
