#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace tessera::store {

/// A statement of SQL with its parameters and rows. IoError, with SQLite's reason, for whatever
/// goes wrong.
class Statement {
 public:
  Statement(sqlite3* database, std::string_view sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  template <class... Values>
  Statement& bind(const Values&... values) {
    int at = 0;
    (bind_one(++at, values), ...);
    return *this;
  }
  bool step();  // whether there is a row
  void run();   // to its end
  void reset();

  std::int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;
  bool is_null(int column) const;

 private:
  void bind_one(int at, std::int64_t value);
  void bind_one(int at, int value) { bind_one(at, std::int64_t{value}); }
  void bind_one(int at, double value);
  void bind_one(int at, std::string_view value);
  void bind_one(int at, const std::string& value) { bind_one(at, std::string_view(value)); }
  void bind_one(int at, const char* value) { bind_one(at, std::string_view(value)); }
  void bind_one(int at, std::nullopt_t);
  template <class T>
  void bind_one(int at, const std::optional<T>& value) {
    if (value)
      bind_one(at, *value);
    else
      bind_one(at, std::nullopt);
  }

  sqlite3* database_;
  sqlite3_stmt* statement_ = nullptr;
};

class Sqlite {
 public:
  enum class Mode { read, write, create };
  Sqlite(const std::filesystem::path& path, Mode mode);
  ~Sqlite();
  Sqlite(const Sqlite&) = delete;
  Sqlite& operator=(const Sqlite&) = delete;

  void execute(const std::string& sql);  // several statements, no rows
  Statement prepare(std::string_view sql) { return {database_, sql}; }
  std::int64_t integer(std::string_view sql);  // the first number of the first row
  std::int64_t last_row() const { return sqlite3_last_insert_rowid(database_); }

 private:
  sqlite3* database_ = nullptr;
};

/// Everything between its beginning and `commit` happens, or nothing does.
class Transaction {
 public:
  enum class Kind { read, write };
  Transaction(Sqlite& database, Kind kind);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Sqlite& database_;
  bool open_ = true;
};

}  // namespace tessera::store
