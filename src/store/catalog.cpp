#include "store/catalog.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/check.h"

namespace tessera::store {
namespace {

using nlohmann::json;

constexpr std::int64_t format_version = 1;
constexpr std::int64_t application = 0x54535241;  // "TSRA"

constexpr const char* schema = R"(
CREATE TABLE tensors(
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE,
  definition TEXT NOT NULL, statistics TEXT NOT NULL, bytes INTEGER NOT NULL);
CREATE TABLE directories(
  tensor INTEGER NOT NULL REFERENCES tensors(id) ON DELETE CASCADE, position INTEGER NOT NULL,
  segment INTEGER NOT NULL, offset INTEGER NOT NULL, bytes INTEGER NOT NULL,
  checksum INTEGER NOT NULL, PRIMARY KEY(tensor, position)) WITHOUT ROWID;
CREATE TABLE segments(id INTEGER PRIMARY KEY AUTOINCREMENT, bytes INTEGER NOT NULL);
)";

std::filesystem::path path_in(const std::filesystem::path& database) {
  return database / "catalog.sqlite";
}

template <class Numbers>
Numbers numbers_of(const json& list) {
  Numbers numbers;
  for (const json& number : list) numbers.push_back(number.get<std::int64_t>());
  return numbers;
}

template <class Numbers>
json list_of(const Numbers& numbers) {
  return json(std::vector<std::int64_t>(numbers.begin(), numbers.end()));
}

Presence presence_of(const std::string& name) {
  for (const Presence presence : {Presence::continuous, Presence::sparse, Presence::partial})
    if (name == to_string(presence)) return presence;
  throw IoError(fmt::format("the catalogue says '{}' of a relation's keys", name));
}

std::string text_of(const Definition& definition) {
  json columns = json::array();
  for (const Column& column : definition.type.columns)
    columns.push_back({{"name", column.name},
                       {"dtype", std::string(to_string(column.type.dtype))},
                       {"shape", list_of(column.type.shape)},
                       {"sparse_dims", column.type.sparse_dims}});
  json text{{"columns", columns},
            {"frontier", list_of(definition.type.frontier)},
            {"presence", std::string(to_string(definition.type.presence))}};
  if (definition.edges) text["last"] = list_of(definition.edges->last);
  return text.dump();
}

void read_definition(const std::string& text, Definition& into) {
  const json said = json::parse(text);
  for (const json& column : said.at("columns"))
    into.type.columns.push_back(
        {column.at("name").get<std::string>(),
         {parse_dtype(column.at("dtype").get<std::string>()), numbers_of<Shape>(column.at("shape")),
          column.at("sparse_dims").get<int>()}});
  into.type.frontier = numbers_of<Key>(said.at("frontier"));
  into.type.presence = presence_of(said.at("presence").get<std::string>());
  if (said.contains("last")) into.edges = Edges{numbers_of<Shape>(said.at("last"))};
}

// Numbers of JSON are finite: what is not is written as text.
json number(double value) {
  if (std::isfinite(value)) return value;
  return fmt::format("{}", value);
}
double number_of(const json& value) {
  return value.is_string() ? std::stod(value.get<std::string>()) : value.get<double>();
}

std::string text_of(const Statistics& statistics) {
  return json{{"tuples", statistics.tuples},
              {"nonzeros", statistics.nonzeros},
              {"min", number(statistics.min)},
              {"max", number(statistics.max)},
              {"distinct", statistics.distinct}}
      .dump();
}

Statistics statistics_of(const std::string& text) {
  const json said = json::parse(text);
  return {said.at("tuples").get<std::int64_t>(), said.at("nonzeros").get<std::int64_t>(),
          number_of(said.at("min")), number_of(said.at("max")),
          said.at("distinct").get<std::vector<std::int64_t>>()};
}

Definition definition_of(Sqlite& sqlite, const Statement& row) {
  Definition definition;
  definition.name = row.text(1);
  try {
    read_definition(row.text(2), definition);
    definition.statistics = statistics_of(row.text(3));
  } catch (const json::exception& error) {
    throw IoError(fmt::format("what the catalogue says of {} cannot be read: {}", definition.name,
                              error.what()));
  }
  definition.bytes = row.integer(4);
  Statement parts = sqlite.prepare(
      "SELECT segment, offset, bytes, checksum FROM directories WHERE tensor = ? ORDER BY "
      "position");
  parts.bind(row.integer(0));
  while (parts.step())
    definition.directories.push_back(
        {parts.integer(0),
         {parts.integer(1), parts.integer(2), static_cast<std::uint64_t>(parts.integer(3))}});
  return definition;
}

constexpr const char* columns = "SELECT id, name, definition, statistics, bytes FROM tensors";

}  // namespace

void Catalog::create(const std::filesystem::path& database) {
  Sqlite sqlite(path_in(database), Sqlite::Mode::create);
  sqlite.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  Transaction all(sqlite, Transaction::Kind::write);
  if (sqlite.integer("PRAGMA user_version") != 0) return;  // somebody else was faster
  sqlite.execute(schema);
  sqlite.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", application,
                             format_version));
  all.commit();
}

Catalog::Catalog(const std::filesystem::path& database, Mode mode)
    : sqlite_(path_in(database), mode == Mode::read ? Sqlite::Mode::read : Sqlite::Mode::write) {
  const std::int64_t version = sqlite_.integer("PRAGMA user_version");
  TESSERA_REQUIRE(IoError, sqlite_.integer("PRAGMA application_id") == application,
                  "{} is not a Tessera database", database.string());
  TESSERA_REQUIRE(IoError, version <= format_version,
                  "{} has format version {}; this program knows versions up to {}: use a newer one",
                  database.string(), version, format_version);
  sqlite_.execute("PRAGMA foreign_keys = ON");
  if (mode == Mode::write) sqlite_.execute("PRAGMA synchronous = FULL");
}

std::vector<Definition> Catalog::all() {
  std::vector<Definition> found;
  Statement rows = sqlite_.prepare(std::string(columns) + " ORDER BY name");
  while (rows.step()) found.push_back(definition_of(sqlite_, rows));
  return found;
}

std::optional<Definition> Catalog::find(const std::string& name) {
  Statement rows = sqlite_.prepare(std::string(columns) + " WHERE name = ?");
  if (!rows.bind(name).step()) return std::nullopt;
  return definition_of(sqlite_, rows);
}

void Catalog::add(const Definition& definition) {
  sqlite_.prepare("INSERT INTO tensors(name, definition, statistics, bytes) VALUES(?, ?, ?, 0)")
      .bind(definition.name, text_of(definition), text_of(definition.statistics))
      .run();
  move(definition.name, definition.directories, definition.bytes);
}

void Catalog::remove(const std::string& name) {
  sqlite_.prepare("DELETE FROM tensors WHERE name = ?").bind(name).run();
}

void Catalog::rename(const std::string& from, const std::string& to) {
  sqlite_.prepare("UPDATE tensors SET name = ? WHERE name = ?").bind(to, from).run();
}

void Catalog::move(const std::string& name, const std::vector<Address>& directories,
                   std::int64_t bytes) {
  sqlite_.prepare("UPDATE tensors SET bytes = ? WHERE name = ?").bind(bytes, name).run();
  Statement find = sqlite_.prepare("SELECT id FROM tensors WHERE name = ?");
  TESSERA_INVARIANT(find.bind(name).step(), "{} is not in the catalogue", name);
  const std::int64_t tensor = find.integer(0);
  sqlite_.prepare("DELETE FROM directories WHERE tensor = ?").bind(tensor).run();
  Statement insert = sqlite_.prepare("INSERT INTO directories VALUES(?, ?, ?, ?, ?, ?)");
  for (std::size_t i = 0; i < directories.size(); ++i)
    insert
        .bind(tensor, static_cast<std::int64_t>(i), directories[i].segment,
              directories[i].place.offset, directories[i].place.bytes,
              static_cast<std::int64_t>(directories[i].place.checksum))
        .run();
}

std::map<std::int64_t, std::int64_t> Catalog::segments() {
  std::map<std::int64_t, std::int64_t> lengths;
  Statement rows = sqlite_.prepare("SELECT id, bytes FROM segments");
  while (rows.step()) lengths[rows.integer(0)] = rows.integer(1);
  return lengths;
}

void Catalog::set_segments(const std::map<std::int64_t, std::int64_t>& lengths) {
  Statement insert = sqlite_.prepare(
      "INSERT INTO segments VALUES(?, ?) ON CONFLICT(id) DO UPDATE SET bytes = excluded.bytes");
  for (const auto& [segment, bytes] : lengths) insert.bind(segment, bytes).run();
}

void Catalog::forget_segment(std::int64_t segment) {
  sqlite_.prepare("DELETE FROM segments WHERE id = ?").bind(segment).run();
}

std::int64_t Catalog::next_segment() {
  return 1 + sqlite_.integer("SELECT seq FROM sqlite_sequence WHERE name = 'segments'");
}

void Catalog::checkpoint() { sqlite_.execute("PRAGMA wal_checkpoint(TRUNCATE)"); }

std::string Catalog::self_check() {
  Statement rows = sqlite_.prepare("PRAGMA integrity_check");
  std::string said;
  while (rows.step()) said += (said.empty() ? "" : "; ") + rows.text(0);
  return said;
}

}  // namespace tessera::store
