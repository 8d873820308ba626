#include "store/old_catalog.h"

#include <xxhash.h>

#include "base/check.h"
#include "store/commit_log.h"
#include "store/hidden_names.h"
#include "store/sqlite.h"

namespace tessera::store {
namespace {

namespace fs = std::filesystem;

constexpr const char* file_name = "catalog.sqlite";
constexpr std::int64_t application = 0x54535241;  // "TSRA"
constexpr std::int64_t last_version = 2;

std::int64_t checksum_of(const std::string& text) {
  return static_cast<std::int64_t>(XXH3_64bits(text.data(), text.size()));
}

void require_well(bool well, const std::string& what) {
  TESSERA_REQUIRE(IoError, well,
                  "the catalogue entry of {} is damaged (wrong checksum); restore it from a copy",
                  what);
}

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

void read_relations(Sqlite& sqlite, Catalog& into) {
  Statement rows = sqlite.prepare(
      "SELECT id, name, definition, statistics, bytes, checksum FROM tensors NOT INDEXED");
  while (rows.step()) {
    Definition definition;
    definition.name = rows.text(1);
    definition.bytes = rows.integer(4);
    definition.directories = directories_of(sqlite, rows.integer(0));
    std::string all = fmt::format("{}\n{}\n{}\n{}", definition.name, rows.text(2), rows.text(3),
                                  definition.bytes);
    for (const Address& part : definition.directories)
      all += fmt::format("\n{} {} {} {}", part.segment, part.range.offset, part.range.bytes,
                         part.range.checksum);
    require_well(rows.integer(5) == checksum_of(all), definition.name);
    read_texts(rows.text(2), rows.text(3), definition);
    into.add(definition);
  }
}

void read_segments(Sqlite& sqlite, Catalog& into) {
  Statement rows = sqlite.prepare("SELECT id, bytes, checksum FROM segments");
  while (rows.step()) {
    const std::int64_t number = rows.integer(0), bytes = rows.integer(1);
    require_well(rows.integer(2) == checksum_of(fmt::format("{} {}", number, bytes)),
                 fmt::format("segment {}", number));
    into.set_segments({{number, bytes}});
  }
  into.set_next_segment(
      1 + std::max(sqlite.integer("SELECT seq FROM sqlite_sequence WHERE name = 'segments'"),
                   sqlite.integer("SELECT max(id) FROM segments")));
}

void read_texts_and_strings(Sqlite& sqlite, Catalog& into) {
  Statement texts = sqlite.prepare("SELECT name, value, checksum FROM texts");
  while (texts.step()) {
    const std::string name = texts.text(0), value = texts.text(1);
    require_well(
        texts.integer(2) == checksum_of(fmt::format("{} {}\n{}", name.size(), name, value)),
        fmt::format("the text \"{}\"", name));
    into.set_text(name, value);
  }
  Statement strings = sqlite.prepare("SELECT code, value, checksum FROM strings NOT INDEXED");
  while (strings.step()) {
    const std::int64_t code = strings.integer(0);
    const std::string value = strings.text(1);
    require_well(strings.integer(2) == checksum_of(fmt::format("{}\n{}", code, value)),
                 fmt::format("the string of code {}", code));
    into.set_old_string(code, value);
  }
}

void read_workload(Sqlite& sqlite, Catalog& into) {
  Statement runs = sqlite.prepare(
      "SELECT at, name, plan, seconds, tasks, flops, peak, read, spilled FROM history ORDER BY id");
  while (runs.step())
    into.record(PastRun{runs.text(0), runs.text(1), runs.text(2), runs.real(3), runs.integer(4),
                        runs.real(5), runs.integer(6), runs.integer(7), runs.integer(8)});
  Statement rates = sqlite.prepare("SELECT kernel, tasks, flops, bytes, seconds FROM kernel_rates");
  while (rates.step())
    into.record(
        KernelRate{rates.text(0), rates.integer(1), rates.real(2), rates.real(3), rates.real(4)});
}

/// No row has vanished: each table counts its rows, and adds up the lower halves of their
/// checksums.
void refuse_missing_rows(Sqlite& sqlite, std::int64_t version) {
  std::vector<std::string> tables{"tensors", "segments"};
  if (version >= 2) tables.insert(tables.end(), {"texts", "strings"});
  for (const std::string& table : tables)
    require_well(sqlite.integer(fmt::format(
                     "SELECT (SELECT rows FROM totals WHERE name = '{0}') IS "
                     "(SELECT count(*) FROM {0} NOT INDEXED) AND "
                     "(SELECT checksums FROM totals WHERE name = '{0}') IS "
                     "(SELECT coalesce(sum(checksum & 0xffffffff), 0) FROM {0} NOT INDEXED)",
                     table)) == 1,
                 fmt::format("the rows of {}", table));
}

/// The names that sessions gave to versions of tables and to what jobs had computed, which users
/// could give too, before names had rooms.
void hide_names(Catalog& catalog) {
  constexpr const char* tables = "sql/table/";
  for (const auto& [text, value] : catalog.texts(tables)) {
    const std::string name = text.substr(std::string_view(tables).size());
    const std::string table = name.substr(0, name.find('['));
    if (table == name || catalog.texts(fmt::format("sql/rule/{}/", table)).empty()) continue;
    catalog.set_text("sql/version/" + name, value);
    catalog.set_text(text, std::nullopt);
    if (catalog.has(name)) catalog.rename(name, hidden_name("version", name));
  }
  // The number of a rule follows a mark that no name has.
  constexpr std::string_view rules = "sql/rule/";
  for (const auto& [text, value] : catalog.texts(std::string(rules))) {
    std::string marked = text;
    marked[marked.rfind('/')] = hidden_mark;
    catalog.set_text(text, std::nullopt);
    catalog.set_text(marked, value);
  }
  constexpr std::string_view jobs = "~job ";
  for (const std::string& name : catalog.names())
    if (name.starts_with(jobs)) catalog.rename(name, hidden_name("job", name.substr(1)));
}

}  // namespace

bool has_old_files(const fs::path& database) {
  std::error_code error;
  const bool there = fs::exists(database / file_name, error);
  TESSERA_REQUIRE(IoError, !error, "cannot read {}: {}", database.string(), error.message());
  return there;
}

bool has_old_catalogue(const fs::path& database) {
  return has_old_files(database) && !CommitLog::is_there(database);
}

Catalog read_old_catalogue(const fs::path& database) {
  Sqlite sqlite(database / file_name, Sqlite::Mode::read);
  const Transaction one_state(sqlite, Transaction::Kind::read);
  const std::int64_t version = sqlite.integer("PRAGMA user_version");
  TESSERA_REQUIRE(IoError, sqlite.integer("PRAGMA application_id") == application,
                  "{} is not a Tessera database", database.string());
  TESSERA_REQUIRE(IoError, version >= 1 && version <= last_version,
                  "{} has format version {}, which is not a version with an SQLite catalogue: its "
                  "catalogue is damaged; restore it from a copy",
                  database.string(), version);
  Catalog catalog;
  read_relations(sqlite, catalog);
  read_segments(sqlite, catalog);
  if (version >= 2) read_texts_and_strings(sqlite, catalog);
  read_workload(sqlite, catalog);
  refuse_missing_rows(sqlite, version);
  hide_names(catalog);
  return catalog;
}

void remove_old_catalogue(const fs::path& database) {
  for (const char* beside : {"", "-wal", "-shm", "-journal"})
    remove_file(database / (std::string(file_name) + beside));
}

}  // namespace tessera::store
