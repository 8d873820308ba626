#include "store/sqlite.h"

#include <unistd.h>

#include <cstring>

#include "base/check.h"

namespace tessera::store {
namespace {

/// What a reason of SQLite's may not tell: its log needs files of its own, whoever reads.
std::string advice(sqlite3* database, int code) {
  const char* file = sqlite3_db_filename(database, "main");
  if ((code != SQLITE_CANTOPEN && code != SQLITE_READONLY) || file == nullptr) return "";
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  if (::access(folder.c_str(), F_OK) != 0 || ::access(folder.c_str(), W_OK) == 0) return "";
  return "; its folder is not writable, but must be, even to read: copy the database to a writable "
         "folder";
}

/// SQLite's reason, and the system's if that is behind it.
std::string reason_of(sqlite3* database) {
  if (database == nullptr) return "out of memory";
  const int code = sqlite3_errcode(database) & 0xff;
  const int cause = sqlite3_system_errno(database);
  const bool of_the_system = code == SQLITE_IOERR || code == SQLITE_CANTOPEN;
  const std::string said = sqlite3_errmsg(database);
  return (of_the_system && cause != 0 ? fmt::format("{} ({})", said, std::strerror(cause)) : said) +
         advice(database, code);
}

[[noreturn]] void fail(sqlite3* database) {
  const char* file = database != nullptr ? sqlite3_db_filename(database, "main") : nullptr;
  throw IoError(
      fmt::format("the catalogue {}: {}", file != nullptr ? file : "", reason_of(database)));
}

void check(sqlite3* database, int code) {
  if (code != SQLITE_OK) fail(database);
}

constexpr int busy_milliseconds = 10'000;

}  // namespace

Statement::Statement(sqlite3* database, std::string_view sql) : database_(database) {
  check(database, sqlite3_prepare_v2(database, sql.data(), static_cast<int>(sql.size()),
                                     &statement_, nullptr));
}
Statement::~Statement() { sqlite3_finalize(statement_); }

bool Statement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) fail(database_);
  return false;
}

void Statement::run() {
  while (step()) {
  }
  reset();
}

void Statement::reset() { check(database_, sqlite3_reset(statement_)); }

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}
double Statement::real(int column) const { return sqlite3_column_double(statement_, column); }
bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}
std::string Statement::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  return text != nullptr ? std::string(text, sqlite3_column_bytes(statement_, column)) : "";
}

void Statement::bind_one(int at, std::int64_t value) {
  check(database_, sqlite3_bind_int64(statement_, at, value));
}
void Statement::bind_one(int at, double value) {
  check(database_, sqlite3_bind_double(statement_, at, value));
}
void Statement::bind_one(int at, std::string_view value) {
  check(database_, sqlite3_bind_text64(statement_, at, value.data(), value.size(), SQLITE_TRANSIENT,
                                       SQLITE_UTF8));
}
void Statement::bind_one(int at, std::nullopt_t) {
  check(database_, sqlite3_bind_null(statement_, at));
}

Sqlite::Sqlite(const std::filesystem::path& path, Mode mode) {
  int flags = SQLITE_OPEN_FULLMUTEX;
  flags |= mode == Mode::read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
  if (mode == Mode::create) flags |= SQLITE_OPEN_CREATE;
  if (sqlite3_open_v2(path.c_str(), &database_, flags, nullptr) != SQLITE_OK) {
    const std::string reason = reason_of(database_);
    sqlite3_close(database_);
    throw IoError(fmt::format("cannot open the catalogue {}: {}", path.string(), reason));
  }
  sqlite3_busy_timeout(database_, busy_milliseconds);
}
Sqlite::~Sqlite() { sqlite3_close_v2(database_); }

void Sqlite::execute(const std::string& sql) {
  check(database_, sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr));
}

std::int64_t Sqlite::integer(std::string_view sql) {
  Statement statement = prepare(sql);
  return statement.step() ? statement.integer(0) : 0;
}

Transaction::Transaction(Sqlite& database, Kind kind) : database_(database) {
  database_.execute(kind == Kind::write ? "BEGIN IMMEDIATE" : "BEGIN");
}

Transaction::~Transaction() {
  if (!open_) return;
  try {
    database_.execute("ROLLBACK");
  } catch (const std::exception&) {
    // SQLite has rolled back by itself.
  }
}

void Transaction::commit() {
  database_.execute("COMMIT");
  open_ = false;
}

}  // namespace tessera::store
