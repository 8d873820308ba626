#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct pg_conn;
struct pg_result;

namespace tessera::store {

/// A column of a query: its name and the number of its type in PostgreSQL's catalogue.
struct SqlColumn {
  std::string name;
  unsigned type = 0;
};

/// A connection to a PostgreSQL server, ended with this whatever it was doing: what was not
/// committed has not happened. All errors are IoErrors with what the server says.
///
/// `watch` is called again and again while the server is waited for, and may throw.
class PostgresConnection {
 public:
  PostgresConnection(const std::string& connection, std::function<void()> watch);
  ~PostgresConnection();
  PostgresConnection(const PostgresConnection&) = delete;
  PostgresConnection& operator=(const PostgresConnection&) = delete;

  void execute(const std::string& sql);
  /// Ends the transaction. `watch` is not called any more: it would leave open whether it happened.
  void commit();
  /// The columns that a query would have; it is not run.
  std::vector<SqlColumn> describe(const std::string& query);
  std::string quoted(std::string_view identifier) const;

  /// COPY ... TO STDOUT. The messages that follow are valid until the next is asked for.
  void begin_reading(const std::string& copy);
  bool next(std::string_view& message);  // false: that was the last
  /// COPY ... FROM STDIN.
  void begin_writing(const std::string& copy);
  void send(std::string_view bytes);
  void end_writing();

  [[noreturn]] void fail(const std::string& message) const;

 private:
  using Result = std::unique_ptr<pg_result, void (*)(pg_result*)>;
  void connect();
  void wait(bool to_write = false);
  Result next_result();
  Result run(const std::string& sql, int expected);
  void drain(const std::string& what);
  [[noreturn]] void fail_with(const std::string& what, const pg_result* result) const;

  pg_conn* connection_ = nullptr;
  std::function<void()> watch_;
  char* message_ = nullptr;
};

}  // namespace tessera::store
