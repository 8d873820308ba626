#include "store/catalog_format.h"

#include <fmt/format.h>
#include <xxhash.h>

namespace tessera::store {
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

// A code is never given twice: strings are not removed.
constexpr const char* version_2 = R"(
CREATE TABLE texts(name TEXT PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER NOT NULL)
  WITHOUT ROWID;
CREATE TABLE strings(code INTEGER PRIMARY KEY AUTOINCREMENT, value TEXT NOT NULL UNIQUE,
  checksum INTEGER NOT NULL);
)";

/// Keeps the number of a table's rows, and the sum of the lower halves of their checksums, so that
/// a row that has vanished is missed.
std::string count_rows(const char* table) {
  constexpr const char* change =
      "CREATE TRIGGER {0}_{1} AFTER {1} ON {0} BEGIN UPDATE totals SET rows = rows {2} 1, "
      "checksums = checksums {2} ({3}.checksum & 0xffffffff) WHERE name = '{0}'; END;";
  return fmt::format("INSERT INTO totals VALUES('{}', 0, 0);", table) +
         fmt::format(fmt::runtime(change), table, "INSERT", "+", "NEW") +
         fmt::format(fmt::runtime(change), table, "DELETE", "-", "OLD") +
         fmt::format(
             "CREATE TRIGGER {0}_UPDATE AFTER UPDATE OF checksum ON {0} BEGIN UPDATE totals SET "
             "checksums = checksums - (OLD.checksum & 0xffffffff) + (NEW.checksum & 0xffffffff) "
             "WHERE name = '{0}'; END;",
             table);
}

}  // namespace

std::string schema_since(std::int64_t from) {
  std::string schema;
  if (from < 1) schema += version_1 + count_rows("tensors") + count_rows("segments");
  if (from < 2) schema += version_2 + count_rows("texts") + count_rows("strings");
  return schema;
}

std::vector<std::string> counted_tables(std::int64_t version) {
  std::vector<std::string> tables{"tensors", "segments"};
  if (version >= 2) tables.insert(tables.end(), {"texts", "strings"});
  return tables;
}

std::int64_t checksum_of(const std::string& text) {
  return static_cast<std::int64_t>(XXH3_64bits(text.data(), text.size()));
}

}  // namespace tessera::store
