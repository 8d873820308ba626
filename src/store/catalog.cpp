#include "store/catalog.h"

#include <algorithm>

#include "base/check.h"
#include "store/catalog_format.h"

namespace tessera::store {
namespace {

std::filesystem::path path_in(const std::filesystem::path& database) {
  return database / "catalog.sqlite";
}

/// Of all that a row says of a tensor, and of its directories.
std::int64_t checksum_of_tensor(const std::string& name, const std::string& definition,
                                const std::string& statistics, std::int64_t bytes,
                                const std::vector<Address>& directories) {
  std::string all = fmt::format("{}\n{}\n{}\n{}", name, definition, statistics, bytes);
  for (const Address& part : directories)
    all += fmt::format("\n{} {} {} {}", part.segment, part.place.offset, part.place.bytes,
                       part.place.checksum);
  return checksum_of(all);
}

std::int64_t checksum_of_segment(std::int64_t segment, std::int64_t bytes) {
  return checksum_of(fmt::format("{} {}", segment, bytes));
}

void set_synchronous(Sqlite& sqlite, Sync sync) {
  sqlite.execute(fmt::format("PRAGMA synchronous = {}", sync == Sync::always ? "FULL" : "OFF"));
}

constexpr const char* columns =
    "SELECT id, name, definition, statistics, bytes, checksum FROM tensors";

std::vector<Address> directories_of(Sqlite& sqlite, std::int64_t tensor) {
  std::vector<Address> directories;
  Statement parts = sqlite.prepare(
      "SELECT segment, offset, bytes, checksum FROM directories WHERE tensor = ? ORDER BY "
      "position");
  parts.bind(tensor);
  while (parts.step())
    directories.push_back(
        {parts.integer(0),
         {parts.integer(1), parts.integer(2), static_cast<std::uint64_t>(parts.integer(3))}});
  return directories;
}

Definition definition_of(Sqlite& sqlite, const Statement& row) {
  Definition definition;
  definition.name = row.text(1);
  definition.bytes = row.integer(4);
  definition.directories = directories_of(sqlite, row.integer(0));
  TESSERA_REQUIRE(IoError,
                  row.integer(5) == checksum_of_tensor(definition.name, row.text(2), row.text(3),
                                                       definition.bytes, definition.directories),
                  "what the catalogue says of {} is damaged (checksum); restore it from a copy, or "
                  "drop it",
                  definition.name);
  read_texts(row.text(2), row.text(3), definition);
  return definition;
}

}  // namespace

void Catalog::create(const std::filesystem::path& database, Sync sync) {
  // Under another name first, so that there is a whole catalogue or none.
  const std::filesystem::path made = database / unfinished_catalogue;
  for (const char* beside : {"", "-journal", "-wal", "-shm"}) remove_file(made.string() + beside);
  {
    Sqlite sqlite(made, Sqlite::Mode::create);
    // What is not finished is thrown away: there is nothing to roll back.
    sqlite.execute("PRAGMA journal_mode = MEMORY");
    set_synchronous(sqlite, sync);
    Transaction all(sqlite, Transaction::Kind::write);
    sqlite.execute(schema_since(0));
    sqlite.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", application,
                               format_version));
    all.commit();
    Statement mode = sqlite.prepare("PRAGMA journal_mode = WAL");
    TESSERA_REQUIRE(
        IoError, mode.step() && mode.text(0) == "wal",
        "the catalogue {} cannot be read and written at once there: choose a local disk",
        made.string());
  }
  if (sync == Sync::always) return rename_file(made, path_in(database));
  std::error_code error;
  std::filesystem::rename(made, path_in(database), error);
  TESSERA_REQUIRE(IoError, !error, "cannot rename {}: {}", made.string(), error.message());
}

Catalog::Catalog(const std::filesystem::path& database, Mode mode, Sync sync)
    : sqlite_(path_in(database), mode == Mode::read ? Sqlite::Mode::read : Sqlite::Mode::write),
      version_(sqlite_.integer("PRAGMA user_version")) {
  TESSERA_REQUIRE(IoError, sqlite_.integer("PRAGMA application_id") == application,
                  "{} is not a Tessera database", database.string());
  TESSERA_REQUIRE(IoError, version_ <= format_version,
                  "{} has format version {}; this program knows versions up to {}: use a newer one",
                  database.string(), version_, format_version);
  TESSERA_REQUIRE(IoError, version_ >= 1,
                  "{} has format version {}, which there is not: its catalogue is damaged; restore "
                  "it from a copy",
                  database.string(), version_);
  sqlite_.execute("PRAGMA foreign_keys = ON");
  if (mode == Mode::write) set_synchronous(sqlite_, sync);
}

bool Catalog::is_old() const { return version_ < format_version; }

void Catalog::upgrade() {
  Transaction all = writing();
  version_ = sqlite_.integer("PRAGMA user_version");  // somebody else may have been faster
  if (!is_old()) return;
  sqlite_.execute(schema_since(version_));
  sqlite_.execute(fmt::format("PRAGMA user_version = {}", format_version));
  all.commit();
  version_ = format_version;
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
  const std::string said = type_text(definition), statistics = statistics_text(definition);
  sqlite_
      .prepare(
          "INSERT INTO tensors(name, definition, statistics, bytes, checksum) VALUES(?, ?, ?, ?, "
          "?)")
      .bind(definition.name, said, statistics, definition.bytes,
            checksum_of_tensor(definition.name, said, statistics, definition.bytes, {}))
      .run();
  move(definition.name, definition.directories, definition.bytes);
}

std::vector<std::string> Catalog::names() {
  std::vector<std::string> found;
  Statement rows = sqlite_.prepare("SELECT name FROM tensors ORDER BY name");
  while (rows.step()) found.push_back(rows.text(0));
  return found;
}

bool Catalog::has(const std::string& name) {
  return sqlite_.prepare("SELECT 1 FROM tensors WHERE name = ?").bind(name).step();
}

void Catalog::remove(const std::string& name) {
  sqlite_.prepare("DELETE FROM tensors WHERE name = ?").bind(name).run();
}

void Catalog::rename(const std::string& from, const std::string& to) {
  TESSERA_INVARIANT(find(from), "{} is not in the catalogue", from);  // it is as it was written
  sqlite_.prepare("UPDATE tensors SET name = ? WHERE name = ?").bind(to, from).run();
  seal(to);
}

void Catalog::seal(const std::string& name) {
  std::int64_t checksum = 0;
  {
    Statement row = sqlite_.prepare(std::string(columns) + " WHERE name = ?");
    TESSERA_INVARIANT(row.bind(name).step(), "{} is not in the catalogue", name);
    checksum = checksum_of_tensor(row.text(1), row.text(2), row.text(3), row.integer(4),
                                  directories_of(sqlite_, row.integer(0)));
  }
  sqlite_.prepare("UPDATE tensors SET checksum = ? WHERE name = ?").bind(checksum, name).run();
}

void Catalog::move(const std::string& name, const std::vector<Address>& directories,
                   std::int64_t bytes) {
  TESSERA_INVARIANT(find(name), "{} is not in the catalogue", name);  // it is as it was written
  place(name, directories, bytes);
}

void Catalog::update(const Definition& definition) {
  const std::string& name = definition.name;
  TESSERA_INVARIANT(find(name), "{} is not in the catalogue", name);  // it is as it was written
  sqlite_.prepare("UPDATE tensors SET definition = ?, statistics = ? WHERE name = ?")
      .bind(type_text(definition), statistics_text(definition), name)
      .run();
  place(name, definition.directories, definition.bytes);
}

void Catalog::place(const std::string& name, const std::vector<Address>& directories,
                    std::int64_t bytes) {
  sqlite_.prepare("UPDATE tensors SET bytes = ? WHERE name = ?").bind(bytes, name).run();
  Statement find_id = sqlite_.prepare("SELECT id FROM tensors WHERE name = ?");
  TESSERA_INVARIANT(find_id.bind(name).step(), "{} is not in the catalogue", name);
  const std::int64_t tensor = find_id.integer(0);
  sqlite_.prepare("DELETE FROM directories WHERE tensor = ?").bind(tensor).run();
  Statement insert = sqlite_.prepare("INSERT INTO directories VALUES(?, ?, ?, ?, ?, ?)");
  for (std::size_t i = 0; i < directories.size(); ++i)
    insert
        .bind(tensor, static_cast<std::int64_t>(i), directories[i].segment,
              directories[i].place.offset, directories[i].place.bytes,
              static_cast<std::int64_t>(directories[i].place.checksum))
        .run();
  seal(name);
}

std::map<std::int64_t, std::int64_t> Catalog::segments() {
  std::map<std::int64_t, std::int64_t> lengths;
  {
    Statement rows = sqlite_.prepare("SELECT id, bytes, checksum FROM segments");
    while (rows.step()) {
      TESSERA_REQUIRE(
          IoError, rows.integer(2) == checksum_of_segment(rows.integer(0), rows.integer(1)),
          "what the catalogue says of segment {} is damaged (checksum); restore it from "
          "a copy",
          rows.integer(0));
      lengths[rows.integer(0)] = rows.integer(1);
    }
  }
  TESSERA_REQUIRE(
      IoError, is_complete("segments"),
      "what the catalogue says of the segments is damaged (checksum); restore it from a "
      "copy");
  return lengths;
}

bool Catalog::is_complete(const std::string& table) {
  return sqlite_.integer(fmt::format("SELECT (SELECT rows FROM totals WHERE name = '{0}') IS "
                                     "(SELECT count(*) FROM {0}) AND "
                                     "(SELECT checksums FROM totals WHERE name = '{0}') IS "
                                     "(SELECT coalesce(sum(checksum & 0xffffffff), 0) FROM {0})",
                                     table)) == 1;
}

void Catalog::set_segments(const std::map<std::int64_t, std::int64_t>& lengths) {
  Statement insert = sqlite_.prepare(
      "INSERT INTO segments VALUES(?, ?, ?) ON CONFLICT(id) DO UPDATE SET bytes = "
      "excluded.bytes, checksum = excluded.checksum");
  for (const auto& [segment, bytes] : lengths)
    insert.bind(segment, bytes, checksum_of_segment(segment, bytes)).run();
}

void Catalog::forget_segment(std::int64_t segment) {
  sqlite_.prepare("DELETE FROM segments WHERE id = ?").bind(segment).run();
}

std::int64_t Catalog::next_segment() {
  return 1 + std::max(sqlite_.integer("SELECT seq FROM sqlite_sequence WHERE name = 'segments'"),
                      sqlite_.integer("SELECT max(id) FROM segments"));
}

void Catalog::checkpoint() { sqlite_.execute("PRAGMA wal_checkpoint(TRUNCATE)"); }

void Catalog::compact() {
  if (sqlite_.integer("PRAGMA freelist_count") * 4 > sqlite_.integer("PRAGMA page_count"))
    sqlite_.execute("VACUUM");
}

void Catalog::settle() {
  Transaction nothing = writing();
  // Writes a page though no value changes.
  sqlite_.execute(fmt::format("PRAGMA user_version = {}", sqlite_.integer("PRAGMA user_version")));
  nothing.commit();
}

std::string Catalog::self_check() {
  Statement rows = sqlite_.prepare("PRAGMA integrity_check");
  std::string said;
  while (rows.step()) said += (said.empty() ? "" : "; ") + rows.text(0);
  for (const std::string& table : counted_tables(version_))
    if (!is_complete(table)) said += fmt::format("; rows of {} are missing or damaged", table);
  return said;
}

}  // namespace tessera::store
