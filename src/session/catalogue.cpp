#include "session/catalogue.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "lang/sql/parser.h"

namespace tessera::session {
namespace {

using nlohmann::json;
using query::same_name;

constexpr std::string_view tables_prefix = "sql/table/", views_prefix = "sql/view/",
                           rules_prefix = "sql/rule/", virtual_prefix = "sql/virtual/";

json type_json(const sql::Type& type) {
  json written{{"kind", static_cast<int>(type.kind)}};
  if (type.kind == sql::Type::Kind::tensor) {
    written["element"] = std::string(to_string(type.element));
    written["shape"] = std::vector<std::int64_t>(type.shape.begin(), type.shape.end());
  }
  return written;
}

sql::Type type_in(const json& written) {
  sql::Type type{static_cast<sql::Type::Kind>(written.at("kind").get<int>())};
  if (type.kind == sql::Type::Kind::tensor) {
    type.element = parse_dtype(written.at("element").get<std::string>());
    for (std::int64_t extent : written.at("shape")) type.shape.push_back(extent);
  }
  return type;
}

bool is_version(const std::string& name) { return name.find('[') != std::string::npos; }

sql::CreateTable parsed_rule(const std::string& text) {
  const auto statements = sql::parse(text);
  TESSERA_REQUIRE(IoError, statements.size() == 1, "the catalogue holds no rule, but '{}'", text);
  return std::get<sql::CreateTable>(statements[0]->node);
}

}  // namespace

std::string to_text(const TableDefinition& definition) {
  json columns = json::array();
  for (std::size_t c = 0; c < definition.schema.size(); ++c) {
    json column{{"name", definition.schema[c].name},
                {"type", type_json(definition.schema[c].type)}};
    if (c < definition.places.size()) {
      if (const auto* key = std::get_if<KeyExpr>(&definition.places[c]))
        column["key"] = key->to_string();
      else
        column["payload"] = std::get<int>(definition.places[c]);
    }
    columns.push_back(std::move(column));
  }
  json written{{"columns", columns}, {"primary_key", definition.primary_key}};
  if (!definition.sources.empty()) written["sources"] = definition.sources;
  return written.dump();
}

TableDefinition definition_of(const std::string& text) {
  TableDefinition definition;
  const json written = json::parse(text);
  for (const json& column : written.at("columns")) {
    definition.schema.push_back({column.at("name"), type_in(column.at("type"))});
    if (column.contains("key"))
      definition.places.emplace_back(KeyExpr::parse(column.at("key").get<std::string>()));
    else if (column.contains("payload"))
      definition.places.emplace_back(column.at("payload").get<int>());
  }
  definition.primary_key = written.at("primary_key");
  definition.sources = written.value("sources", "");
  return definition;
}

std::string table_text(const std::string& name) { return std::string(tables_prefix) + name; }
std::string view_text(const std::string& name) { return std::string(views_prefix) + name; }
std::string virtual_text(const std::string& name) { return std::string(virtual_prefix) + name; }
std::string rule_text(const std::string& table, std::size_t number) {
  return fmt::format("{}{}/{:06}", rules_prefix, table, number);
}

std::string job_relation(const std::string& job, std::int64_t op) {
  return fmt::format("{}{}", job_relations(job), op);
}
std::string job_relations(const std::string& job) { return fmt::format("~job {} ", job); }
std::string job_text(const std::string& job) { return "job/" + job; }

Catalogue::Catalogue(const Database& database)
    : database_(database), texts_(database.texts("sql/")) {
  for (const StoredInfo& info : database.list()) {
    if (info.name.starts_with("~job ")) continue;
    relations_[info.name] = true;
    if (!is_version(info.name)) kinds_[info.name] = Kind::tensor;
  }
  for (const auto& [key, text] : texts_) {
    if (key.starts_with(tables_prefix)) {
      const std::string name = key.substr(tables_prefix.size());
      if (!is_version(name)) kinds_[name] = Kind::table;
    } else if (key.starts_with(virtual_prefix)) {
      kinds_[key.substr(virtual_prefix.size())] = Kind::virtual_tensor;
    } else if (key.starts_with(views_prefix)) {
      kinds_[key.substr(views_prefix.size())] = Kind::view;
    } else if (key.starts_with(rules_prefix)) {
      kinds_[key.substr(rules_prefix.size(), key.rfind('/') - rules_prefix.size())] =
          Kind::versions;
    }
  }
}

std::optional<std::string> Catalogue::find(const std::string& name) const {
  if (kinds_.contains(name)) return name;
  std::optional<std::string> found;
  for (const auto& [known, kind] : kinds_) {
    if (!same_name(known, name)) continue;
    TESSERA_REQUIRE(TypeError, !found, "{} may be {} or {}: write it as one of these", name, *found,
                    known);
    found = known;
  }
  return found;
}

std::optional<Catalogue::Kind> Catalogue::kind(const std::string& name) const {
  const auto found = find(name);
  return found ? std::optional(kinds_.at(*found)) : std::nullopt;
}

std::vector<std::pair<std::string, Catalogue::Kind>> Catalogue::all() const {
  return {kinds_.begin(), kinds_.end()};
}

std::string Catalogue::exact_name(const std::string& name) {
  if (is_version(name)) return name;
  return find(name).value_or(name);
}

TableDefinition Catalogue::table(const std::string& name) {
  const auto text = texts_.find(table_text(name));
  if (text != texts_.end()) return definition_of(text->second);
  // A tensor: its key, and then its tiles.
  const auto without_data = virtual_tensor(name);
  const RelationType type =
      without_data ? without_data->tensor(name).plan.type() : database_.info(name).type;
  TableDefinition definition;
  for (int d = 0; d < type.arity(); ++d) {
    definition.schema.push_back({fmt::format("k{}", d), {sql::Type::Kind::bigint}});
    definition.places.emplace_back(key(d));
  }
  for (std::size_t c = 0; c < type.columns.size(); ++c) {
    const std::string& called = type.columns[c].name;
    const std::string made = c == 0 ? "tile" : fmt::format("tile{}", c);
    definition.schema.push_back(
        {called.empty() ? made : called, query::type_of(type.columns[c].type)});
    definition.places.emplace_back(static_cast<int>(c));
  }
  return definition;
}

std::optional<query::Schema> Catalogue::stored(const std::string& name) {
  if (is_version(name)) return table(name).schema;
  const auto found = find(name);
  if (!found) return std::nullopt;
  TESSERA_REQUIRE(TypeError, kinds_.at(*found) != Kind::versions,
                  "{} is a table of versions: say which, as in {}[0]", *found, *found);
  return table(*found).schema;
}

query::Value Catalogue::value(const std::string& name) {
  const TableDefinition definition = table(name);
  if (const auto without_data = virtual_tensor(name))
    return {query::Table{definition.schema, definition.places, without_data->tensor(name).plan}};
  if (!has_tuples(name)) return {std::nullopt, query::Rows{definition.schema, {}}};
  Plan plan = database_.plan(name);
  if (plan.type().presence == Presence::sparse) {
    // The rows of a table are those that are there, whatever a tensor has in their places.
    const auto& input = std::get<op::Input>(operator_of(plan));
    auto listing = std::make_shared<TupleSet<TileType>>(*input.listing);
    listing->type.presence = Presence::partial;
    listing->absent_types = {};
    plan = Plan::input(listing, input.source, input.name, input.facts);
  }
  return {query::Table{definition.schema, definition.places, plan}};
}

std::optional<VirtualTensor> Catalogue::virtual_tensor(const std::string& name) const {
  const auto text = texts_.find(virtual_text(name));
  if (text == texts_.end()) return std::nullopt;
  const json written = json::parse(text->second);
  VirtualTensor tensor;
  tensor.type.dtype = parse_dtype(written.at("dtype").get<std::string>());
  for (std::int64_t extent : written.at("shape")) tensor.type.shape.push_back(extent);
  for (std::int64_t extent : written.at("tile")) tensor.type.tile.push_back(extent);
  tensor.partition_by = written.at("partition_by").get<std::vector<int>>();
  return tensor;
}

std::optional<query::Resolver::View> Catalogue::view(const std::string& name) {
  const auto found = find(name);
  if (!found || kinds_.at(*found) != Kind::view) return std::nullopt;
  auto known = views_.find(*found);
  if (known == views_.end()) {
    const json written = json::parse(texts_.at(view_text(*found)));
    known =
        views_
            .emplace(*found,
                     query::Resolver::View{sql::parse_query(written.at("query").get<std::string>()),
                                           written.at("columns")})
            .first;
  }
  return known->second;
}

std::string Catalogue::view_query(const std::string& name) const {
  return json::parse(texts_.at(view_text(name))).at("query");
}

const std::vector<query::VersionRule>* Catalogue::rules(const std::string& name) {
  const auto found = find(name);
  if (!found || kinds_.at(*found) != Kind::versions) return nullptr;
  auto known = rules_.find(*found);
  if (known == rules_.end()) {
    std::vector<query::VersionRule> rules;
    const std::string prefix = std::string(rules_prefix) + *found + "/";
    for (auto text = texts_.lower_bound(prefix);
         text != texts_.end() && text->first.starts_with(prefix); ++text)
      rules.emplace_back(parsed_rule(text->second), text->second);
    known = rules_.emplace(*found, std::move(rules)).first;
  }
  return &known->second;
}

std::optional<std::string> Catalogue::materialised(const std::string& version) {
  return texts_.contains(table_text(version)) ? std::optional(version) : std::nullopt;
}

std::vector<std::string> Catalogue::versions_of(const std::string& table) const {
  std::vector<std::string> found;
  const std::string prefix = table_text(table) + "[";
  for (auto text = texts_.lower_bound(prefix);
       text != texts_.end() && text->first.starts_with(prefix); ++text)
    found.push_back(text->first.substr(tables_prefix.size()));
  return found;
}

std::size_t Catalogue::next_rule(const std::string& table) const {
  std::size_t next = 0;
  const std::string prefix = std::string(rules_prefix) + table + "/";
  for (auto text = texts_.lower_bound(prefix);
       text != texts_.end() && text->first.starts_with(prefix); ++text)
    next = std::stoul(text->first.substr(prefix.size())) + 1;
  return next;
}

std::string Catalogue::all_names() {
  std::string names;
  for (const auto& [name, kind] : kinds_) names += (names.empty() ? "" : ", ") + name;
  return names.empty() ? "none" : names;
}

}  // namespace tessera::session
