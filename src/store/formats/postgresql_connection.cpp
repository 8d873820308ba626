#include "store/formats/postgresql_connection.h"

#include <libpq-fe.h>
#include <poll.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "base/check.h"

namespace tessera::store {
namespace {

constexpr int glance_milliseconds = 100;  // how long a stop may wait

std::string without_end(const char* message) {
  std::string text = message == nullptr ? "" : message;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text.empty() ? "no reason given" : text;
}

/// What connect_timeout says; 0: for ever.
double seconds_to_connect(PGconn* connection) {
  double seconds = 0;
  PQconninfoOption* const all = PQconninfo(connection);
  for (const PQconninfoOption* one = all; one != nullptr && one->keyword != nullptr; ++one)
    if (std::string_view(one->keyword) == "connect_timeout" && one->val != nullptr)
      seconds = std::strtod(one->val, nullptr);
  PQconninfoFree(all);
  return seconds;
}

}  // namespace

PostgresConnection::PostgresConnection(const std::string& connection, std::function<void()> watch)
    : watch_(std::move(watch)) {
  // What the connection string says comes after, and so goes before, our settings.
  const char* names[] = {"connect_timeout", "application_name", "dbname", nullptr};
  const char* values[] = {"10", "tessera", connection.c_str(), nullptr};
  connection_ = PQconnectStartParams(names, values, 1);
  TESSERA_REQUIRE(OutOfMemory, connection_ != nullptr,
                  "out of memory while connecting to PostgreSQL");
  try {
    connect();
  } catch (...) {
    PQfinish(connection_);
    throw;
  }
  (void)PQsetnonblocking(connection_, 1);
  // Warnings are the server's log's, not our standard error's.
  PQsetNoticeReceiver(
      connection_, [](void*, const PGresult*) {}, nullptr);
}

/// Step by step, as one call that does it all would hear of no stop. Only the server's name is
/// looked up without looking for one.
void PostgresConnection::connect() {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const double patience = seconds_to_connect(connection_);
  PostgresPollingStatusType wanted = PGRES_POLLING_WRITING;
  while (PQstatus(connection_) != CONNECTION_BAD && wanted != PGRES_POLLING_OK &&
         wanted != PGRES_POLLING_FAILED) {
    watch_();
    TESSERA_REQUIRE(
        IoError,
        patience <= 0 || std::chrono::duration<double>(Clock::now() - begin).count() < patience,
        "cannot connect to PostgreSQL: no answer after {} s (connect_timeout)", patience);
    const short events = wanted == PGRES_POLLING_READING ? POLLIN : POLLOUT;
    pollfd waited{PQsocket(connection_), events, 0};
    if (::poll(&waited, 1, glance_milliseconds) > 0) wanted = PQconnectPoll(connection_);
  }
  TESSERA_REQUIRE(IoError, PQstatus(connection_) == CONNECTION_OK,
                  "cannot connect to PostgreSQL: {}", without_end(PQerrorMessage(connection_)));
}

PostgresConnection::~PostgresConnection() {
  if (message_ != nullptr) PQfreemem(message_);
  if (PQtransactionStatus(connection_) == PQTRANS_ACTIVE) {
    if (PGcancel* cancel = PQgetCancel(connection_)) {
      char ignored[256];
      (void)PQcancel(cancel, ignored, sizeof ignored);
      PQfreeCancel(cancel);
    }
  }
  PQfinish(connection_);
}

void PostgresConnection::fail(const std::string& message) const {
  throw IoError(fmt::format("PostgreSQL database \"{}\": {}", PQdb(connection_), message));
}

void PostgresConnection::fail_with(const std::string& what, const pg_result* result) const {
  const char* reason = result != nullptr ? PQresultErrorMessage(result) : nullptr;
  if (reason == nullptr || *reason == '\0') reason = PQerrorMessage(connection_);
  fail(fmt::format("cannot {}: {}", what, without_end(reason)));
}

/// Until something has come from the server, or can be sent to it.
void PostgresConnection::wait(bool to_write) {
  watch_();
  pollfd waited{PQsocket(connection_), static_cast<short>(POLLIN | (to_write ? POLLOUT : 0)), 0};
  const int ready = ::poll(&waited, 1, glance_milliseconds);
  if (ready < 0 && errno != EINTR) fail(fmt::format("poll: {}", std::strerror(errno)));
  if ((waited.revents & ~POLLOUT) != 0 && PQconsumeInput(connection_) == 0)
    fail_with("read the answer of the server", nullptr);
}

PostgresConnection::Result PostgresConnection::next_result() {
  for (;;) {
    const int left = PQflush(connection_);
    if (left < 0) fail_with("send to the server", nullptr);
    if (left == 0 && PQisBusy(connection_) == 0) return {PQgetResult(connection_), PQclear};
    wait(left > 0);
  }
}

PostgresConnection::Result PostgresConnection::run(const std::string& sql, int expected) {
  if (PQsendQuery(connection_, sql.c_str()) == 0) fail_with("send a query", nullptr);
  Result result = next_result();
  if (PQresultStatus(result.get()) != expected) fail_with("run the query", result.get());
  return result;
}

/// The results that are left of a query; none may be an error.
void PostgresConnection::drain(const std::string& what) {
  while (const Result result = next_result()) {
    const auto status = PQresultStatus(result.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) fail_with(what, result.get());
  }
}

void PostgresConnection::execute(const std::string& sql) {
  (void)run(sql, PGRES_COMMAND_OK);
  drain("run the query");
}

void PostgresConnection::commit() {
  watch_ = [] {};
  execute("COMMIT");
}

std::vector<SqlColumn> PostgresConnection::describe(const std::string& query) {
  if (PQsendPrepare(connection_, "", query.c_str(), 0, nullptr) == 0)
    fail_with("send the query", nullptr);
  if (const Result prepared = next_result(); PQresultStatus(prepared.get()) != PGRES_COMMAND_OK)
    fail_with("prepare the query", prepared.get());
  drain("prepare the query");
  if (PQsendDescribePrepared(connection_, "") == 0) fail_with("describe the query", nullptr);
  const Result result = next_result();
  if (PQresultStatus(result.get()) != PGRES_COMMAND_OK)
    fail_with("describe the query", result.get());
  std::vector<SqlColumn> columns;
  for (int i = 0; i < PQnfields(result.get()); ++i)
    columns.push_back({PQfname(result.get(), i), PQftype(result.get(), i)});
  drain("describe the query");
  return columns;
}

std::string PostgresConnection::quoted(std::string_view identifier) const {
  char* text = PQescapeIdentifier(connection_, identifier.data(), identifier.size());
  if (text == nullptr) fail_with("quote a name", nullptr);
  std::string result = text;
  PQfreemem(text);
  return result;
}

void PostgresConnection::begin_reading(const std::string& copy) { (void)run(copy, PGRES_COPY_OUT); }

bool PostgresConnection::next(std::string_view& message) {
  if (message_ != nullptr) PQfreemem(message_);
  message_ = nullptr;
  for (;;) {
    const int length = PQgetCopyData(connection_, &message_, 1);
    if (length > 0) {
      message = {message_, static_cast<std::size_t>(length)};
      return true;
    }
    if (length == -2) fail_with("read the rows", nullptr);
    if (length == -1) {
      drain("read the rows");
      return false;
    }
    wait();
  }
}

void PostgresConnection::begin_writing(const std::string& copy) { (void)run(copy, PGRES_COPY_IN); }

void PostgresConnection::send(std::string_view bytes) {
  for (;;) {
    const int done = PQputCopyData(connection_, bytes.data(), static_cast<int>(bytes.size()));
    if (done < 0) fail_with("send the rows", nullptr);
    if (done > 0) break;
    wait(true);
  }
  while (PQflush(connection_) > 0) wait(true);
}

void PostgresConnection::end_writing() {
  int done = 0;
  while ((done = PQputCopyEnd(connection_, nullptr)) == 0) wait(true);
  if (done < 0) fail_with("send the rows", nullptr);
  drain("store the rows");
}

}  // namespace tessera::store
