#include "support/old_database.h"

#include <fmt/format.h>
#include <xxhash.h>

#include "base/file.h"
#include "store/catalog_file.h"
#include "store/sqlite.h"

namespace tessera {
namespace {

constexpr const char* version_1 = R"(
CREATE TABLE tensors(
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE,
  definition TEXT NOT NULL, statistics TEXT NOT NULL, bytes INTEGER NOT NULL,
  checksum INTEGER NOT NULL);
CREATE TABLE directories(
  tensor INTEGER NOT NULL REFERENCES tensors(id) ON DELETE CASCADE, position INTEGER NOT NULL,
  segment INTEGER NOT NULL, offset INTEGER NOT NULL, bytes INTEGER NOT NULL,
  checksum INTEGER NOT NULL, PRIMARY KEY(tensor, position)) WITHOUT ROWID;
CREATE TABLE segments(id INTEGER PRIMARY KEY AUTOINCREMENT, bytes INTEGER NOT NULL,
  checksum INTEGER NOT NULL);
CREATE TABLE totals(name TEXT PRIMARY KEY, rows INTEGER NOT NULL, checksums INTEGER NOT NULL);
CREATE TABLE history(
  id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, name TEXT NOT NULL, plan TEXT NOT NULL,
  seconds REAL NOT NULL, tasks INTEGER NOT NULL, flops REAL NOT NULL, peak INTEGER NOT NULL,
  read INTEGER NOT NULL, spilled INTEGER NOT NULL);
CREATE TABLE kernel_rates(
  kernel TEXT PRIMARY KEY, tasks INTEGER NOT NULL, flops REAL NOT NULL, bytes REAL NOT NULL,
  seconds REAL NOT NULL);
)";
constexpr const char* version_2 = R"(
CREATE TABLE texts(name TEXT PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER NOT NULL)
  WITHOUT ROWID;
CREATE TABLE strings(code INTEGER PRIMARY KEY AUTOINCREMENT, value TEXT NOT NULL UNIQUE,
  checksum INTEGER NOT NULL);
)";

std::int64_t checksum_of(const std::string& text) {
  return static_cast<std::int64_t>(XXH3_64bits(text.data(), text.size()));
}

void write(store::Sqlite& sqlite, const store::Catalog& catalog, int version) {
  sqlite.execute(version_1);
  for (const store::Definition& definition : catalog.all()) {
    const std::string type = type_text(definition), statistics = statistics_text(definition);
    std::string all =
        fmt::format("{}\n{}\n{}\n{}", definition.name, type, statistics, definition.bytes);
    for (const store::Address& part : definition.directories)
      all += fmt::format("\n{} {} {} {}", part.segment, part.range.offset, part.range.bytes,
                         part.range.checksum);
    sqlite
        .prepare(
            "INSERT INTO tensors(name, definition, statistics, bytes, checksum) "
            "VALUES(?, ?, ?, ?, ?)")
        .bind(definition.name, type, statistics, definition.bytes, checksum_of(all))
        .run();
    const std::int64_t id = sqlite.last_row();
    std::int64_t position = 0;
    for (const store::Address& part : definition.directories)
      sqlite.prepare("INSERT INTO directories VALUES(?, ?, ?, ?, ?, ?)")
          .bind(id, position++, part.segment, part.range.offset, part.range.bytes,
                static_cast<std::int64_t>(part.range.checksum))
          .run();
  }
  for (const auto& [segment, bytes] : catalog.segments())
    sqlite.prepare("INSERT INTO segments VALUES(?, ?, ?)")
        .bind(segment, bytes, checksum_of(fmt::format("{} {}", segment, bytes)))
        .run();
  for (const PastRun& run : catalog.history())
    sqlite
        .prepare(
            "INSERT INTO history(at, name, plan, seconds, tasks, flops, peak, read, spilled) "
            "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)")
        .bind(run.at, run.name, run.plan, run.seconds, run.tasks, run.flops, run.peak_bytes,
              run.bytes_read, run.bytes_spilled)
        .run();
  std::vector<std::string> counted{"tensors", "segments"};
  if (version >= 2) {
    sqlite.execute(version_2);
    for (const auto& [name, value] : catalog.texts(""))
      sqlite.prepare("INSERT INTO texts VALUES(?, ?, ?)")
          .bind(name, value, checksum_of(fmt::format("{} {}\n{}", name.size(), name, value)))
          .run();
    std::int64_t code = 0;
    for (const char* string : {"red", "green"}) {
      ++code;
      sqlite.prepare("INSERT INTO strings VALUES(?, ?, ?)")
          .bind(code, string, checksum_of(fmt::format("{}\n{}", code, string)))
          .run();
    }
    counted.insert(counted.end(), {"texts", "strings"});
  }
  for (const std::string& table : counted)
    sqlite.execute(fmt::format(
        "INSERT INTO totals SELECT '{0}', count(*), coalesce(sum(checksum & 0xffffffff), 0) "
        "FROM {0}",
        table));
  sqlite.execute(
      fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", 0x54535241, version));
}

}  // namespace

void make_old(const std::filesystem::path& database, int version) {
  const auto catalog = store::CatalogFile(database, store::Sync::never).now();
  store::Sqlite sqlite(database / "catalog.sqlite", store::Sqlite::Mode::create);
  write(sqlite, *catalog, version);
  for (const char* file : {"catalog.1", "catalog.2"}) remove_file(database / file);
}

}  // namespace tessera
