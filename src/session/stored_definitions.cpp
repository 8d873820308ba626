#include "session/stored_definitions.h"

#include <algorithm>

#include "base/check.h"
#include "base/names_text.h"
#include "lang/sql/parser.h"
#include "session/definition_text.h"
#include "store/hidden_names.h"
#include "store/json_fields.h"

namespace tessera::session {
namespace {

using nlohmann::json;
using query::same_name;

constexpr std::string_view tables_prefix = "sql/table/", versions_prefix = "sql/version/",
                           views_prefix = "sql/view/", rules_prefix = "sql/rule/",
                           virtual_prefix = "sql/virtual/";
constexpr std::string_view versions_room = "version", jobs_room = "job";

query::VersionRule rule_in(const std::string& table, const std::string& text) {
  return store::read_stored(fmt::format("a rule of \"{}\"", table), [&] {
    const auto statements = sql::parse(text);
    TESSERA_REQUIRE(IoError, statements.size() == 1, "expected a rule, found '{}'", text);
    const auto& rule = std::get<sql::CreateTable>(statements[0]->node);
    TESSERA_REQUIRE(IoError, !rule.indices.empty() && rule.query && same_name(rule.name, table),
                    "expected a rule of this table, found '{}'", text);
    return query::VersionRule(rule, text);
  });
}

}  // namespace

std::string table_text(const std::string& name) {
  const auto version = store::name_in(versions_room, name);
  return version ? std::string(versions_prefix) + *version : std::string(tables_prefix) + name;
}
std::string version_relation(const std::string& version) {
  return store::hidden_name(versions_room, version);
}
bool is_version(const std::string& relation) {
  return store::name_in(versions_room, relation).has_value();
}
std::string view_text(const std::string& name) { return std::string(views_prefix) + name; }
std::string virtual_text(const std::string& name) { return std::string(virtual_prefix) + name; }
std::string rule_texts(const std::string& table) {
  return std::string(rules_prefix) + table + store::hidden_mark;
}
std::string rule_text(const std::string& table, std::size_t number) {
  return fmt::format("{}{:06}", rule_texts(table), number);
}

std::string job_relation(const std::string& job, std::int64_t op) {
  return fmt::format("{}{}", job_relations(job), op);
}
std::string job_relations(const std::string& job) {
  return store::hidden_name(jobs_room, fmt::format("job {} ", job));
}
std::string job_text(const std::string& job) { return "job/" + job; }
bool is_of_job(const std::string& relation) {
  return store::name_in(jobs_room, relation).has_value();
}
bool is_definition(const std::string& text) { return text.starts_with("sql/"); }

StoredDefinitions::StoredDefinitions(const Snapshot& snapshot)
    : snapshot_(snapshot), texts_(snapshot.texts("sql/")) {
  for (const std::string& name : snapshot.names()) {
    relations_[name] = true;
    if (!store::is_hidden(name)) kinds_[name] = Kind::tensor;
  }
  for (const auto& [key, text] : texts_) {
    if (key.starts_with(tables_prefix)) {
      kinds_[key.substr(tables_prefix.size())] = Kind::table;
    } else if (key.starts_with(virtual_prefix)) {
      kinds_[key.substr(virtual_prefix.size())] = Kind::virtual_tensor;
    } else if (key.starts_with(views_prefix)) {
      kinds_[key.substr(views_prefix.size())] = Kind::view;
    } else if (key.starts_with(rules_prefix)) {
      kinds_[key.substr(rules_prefix.size(), key.rfind(store::hidden_mark) - rules_prefix.size())] =
          Kind::versions;
    }
  }
}

std::optional<std::string> StoredDefinitions::find(const std::string& name) const {
  if (kinds_.contains(name)) return name;
  std::optional<std::string> found;
  for (const auto& [known, kind] : kinds_) {
    if (!same_name(known, name)) continue;
    TESSERA_REQUIRE(TypeError, !found, "\"{}\" is ambiguous; it could be \"{}\" or \"{}\"", name,
                    *found, known);
    found = known;
  }
  return found;
}

std::optional<StoredDefinitions::Kind> StoredDefinitions::kind(const std::string& name) const {
  const auto found = find(name);
  return found ? std::optional(kinds_.at(*found)) : std::nullopt;
}

std::vector<std::pair<std::string, StoredDefinitions::Kind>> StoredDefinitions::all() const {
  return {kinds_.begin(), kinds_.end()};
}

std::string StoredDefinitions::exact_name(const std::string& name) {
  if (is_version(name)) return name;
  return find(name).value_or(name);
}

const TableDefinition& StoredDefinitions::table(const std::string& name) {
  auto known = tables_.find(name);
  if (known == tables_.end()) known = tables_.emplace(name, read_table(name)).first;
  return known->second;
}

TableDefinition StoredDefinitions::read_table(const std::string& name) const {
  const auto text = texts_.find(table_text(name));
  if (text != texts_.end())
    return store::read_stored(fmt::format("table \"{}\"", store::shown_name(name)),
                              [&] { return definition_of(text->second); });
  // A tensor: its key, and then its tiles.
  const auto without_data = virtual_tensor(name);
  const RelationType type =
      without_data ? without_data->tensor(name).plan.type() : snapshot_.info(name).type;
  TableDefinition definition;
  for (int d = 0; d < type.arity(); ++d) {
    definition.schema.push_back({fmt::format("k{}", d), {sql::Type::Kind::bigint}});
    definition.origins.emplace_back(key(d));
  }
  for (std::size_t c = 0; c < type.columns.size(); ++c) {
    const std::string& called = type.columns[c].name;
    const std::string made = c == 0 ? "tile" : fmt::format("tile{}", c);
    definition.schema.push_back(
        {called.empty() ? made : called, query::sql_type(type.columns[c].type)});
    definition.origins.emplace_back(static_cast<int>(c));
  }
  return definition;
}

std::optional<query::Schema> StoredDefinitions::stored(const std::string& name) {
  if (is_version(name)) return table(name).schema;
  const auto found = find(name);
  if (!found) return std::nullopt;
  TESSERA_REQUIRE(TypeError, kinds_.at(*found) != Kind::versions,
                  "table \"{}\" has versions; specify one, such as {}[0]", *found, *found);
  return table(*found).schema;
}

query::Value StoredDefinitions::value(const std::string& name) {
  const TableDefinition& definition = table(name);
  if (const auto without_data = virtual_tensor(name)) {
    const Plan plan = without_data->tensor(name).plan;
    check_origins(definition, plan.type(), "tensor " + name);
    return {query::Table{definition.schema, definition.origins, plan}};
  }
  if (!has_tuples(name)) return {std::nullopt, query::Rows{definition.schema, {}}};
  Plan plan = snapshot_.plan(name);
  check_origins(definition, plan.type(), fmt::format("table \"{}\"", store::shown_name(name)));
  if (plan.type().presence == Presence::sparse) {
    // The rows of a table are those that are there, whatever a tensor has in their places.
    const auto& input = std::get<op::Input>(operator_of(plan));
    auto listing = std::make_shared<TupleSet<TileType>>(*input.listing);
    listing->type.presence = Presence::partial;
    listing->absent_types = {};
    plan = Plan::input(listing, input.source, input.name, input.facts);
  }
  return {query::Table{definition.schema, definition.origins, plan}};
}

std::optional<VirtualTensor> StoredDefinitions::virtual_tensor(const std::string& name) const {
  const auto text = texts_.find(virtual_text(name));
  if (text == texts_.end()) return std::nullopt;
  return virtual_tensor_of(text->second, name);
}

std::optional<query::Resolver::View> StoredDefinitions::view(const std::string& name) {
  const auto found = find(name);
  if (!found || kinds_.at(*found) != Kind::view) return std::nullopt;
  auto known = views_.find(*found);
  if (known == views_.end()) {
    query::Resolver::View view = store::read_stored(fmt::format("view \"{}\"", *found), [&] {
      const json written = json::parse(texts_.at(view_text(*found)));
      return query::Resolver::View{sql::parse_query(written.at("query").get<std::string>()),
                                   written.at("columns").get<std::vector<std::string>>()};
    });
    known = views_.emplace(*found, std::move(view)).first;
  }
  return known->second;
}

std::string StoredDefinitions::view_query(const std::string& name) const {
  return store::read_stored(fmt::format("view \"{}\"", name), [&] {
    return json::parse(texts_.at(view_text(name))).at("query").get<std::string>();
  });
}

const std::vector<query::VersionRule>* StoredDefinitions::rules(const std::string& name) {
  const auto found = find(name);
  if (!found || kinds_.at(*found) != Kind::versions) return nullptr;
  auto known = rules_.find(*found);
  if (known == rules_.end()) {
    std::vector<query::VersionRule> rules;
    const std::string prefix = rule_texts(*found);
    for (auto text = texts_.lower_bound(prefix);
         text != texts_.end() && text->first.starts_with(prefix); ++text)
      rules.push_back(rule_in(*found, text->second));
    TESSERA_REQUIRE(
        IoError,
        !rules.empty() && std::all_of(rules.begin(), rules.end(),
                                      [&](const query::VersionRule& rule) {
                                        return rule.arity() == rules.front().arity();
                                      }),
        "cannot read the definition of table \"{}\": its rules have different numbers of indices; "
        "restore it from a copy, or drop it",
        *found);
    known = rules_.emplace(*found, std::move(rules)).first;
  }
  return &known->second;
}

std::optional<std::string> StoredDefinitions::materialised(const std::string& version) {
  const std::string relation = version_relation(version);
  return texts_.contains(table_text(relation)) ? std::optional(relation) : std::nullopt;
}

std::vector<std::string> StoredDefinitions::versions_of(const std::string& table) const {
  std::vector<std::string> found;
  const std::string prefix = table_text(version_relation(table)) + "[";
  for (auto text = texts_.lower_bound(prefix);
       text != texts_.end() && text->first.starts_with(prefix); ++text)
    found.push_back(version_relation(text->first.substr(versions_prefix.size())));
  return found;
}

std::size_t StoredDefinitions::next_rule(const std::string& table) const {
  std::size_t next = 0;
  const std::string prefix = rule_texts(table);
  for (auto text = texts_.lower_bound(prefix);
       text != texts_.end() && text->first.starts_with(prefix); ++text)
    next = store::read_stored(fmt::format("a rule of \"{}\"", table),
                              [&] { return std::stoul(text->first.substr(prefix.size())) + 1; });
  return next;
}

std::string StoredDefinitions::instead_of(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& [known, kind] : kinds_) names.push_back(known);
  return tessera::instead_of(name, names);
}

}  // namespace tessera::session
