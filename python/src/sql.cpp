#include <chrono>
#include <mutex>
#include <sstream>

#include "base/check.h"
#include "display/error_text.h"
#include "sql_result.h"
#include "sql_values.h"
#include "watched.h"

// Sessions of SQL.

namespace tessera::python {
namespace {

/// While it lives, what a session runs can be stopped, and says how far it is.
class WhileWatched {
 public:
  WhileWatched(RunOptions& options, std::stop_token stop,
               std::function<void(const Progress&)> progress)
      : options_(options) {
    options_.stop = std::move(stop);
    options_.progress = std::move(progress);
  }
  ~WhileWatched() {
    options_.stop = {};
    options_.progress = {};
  }
  WhileWatched(const WhileWatched&) = delete;
  WhileWatched& operator=(const WhileWatched&) = delete;

 private:
  RunOptions& options_;
};

/// A session that threads of Python may share: their statements wait for each other.
class SharedSession {
 public:
  SharedSession(const Database& database, const SessionOptions& options)
      : session_(database, options) {}

  std::vector<StatementResult> execute(const std::string& text, const std::vector<SqlValue>& values,
                                       const py::object& progress) {
    using Results = std::vector<StatementResult>;
    Watched<Results, Progress> watched(progress);
    const auto run = [&]() -> Results {
      std::unique_lock alone(mutex_, std::defer_lock);
      while (!alone.try_lock_for(std::chrono::milliseconds(20)))
        refuse_if_stopped("waiting for another statement of the session");
      const WhileWatched until_the_end(session_.run_options(), watched.stop(), watched.listener());
      try {
        return session_.execute(text, values);
      } catch (const StatementError& error) {
        throw ShownStatementError(error, display::error_text(error, text, {}, 0, false));
      }
    };
    return watched.result(run);
  }

 private:
  std::timed_mutex mutex_;
  Session session_;
};

std::string quoted(const std::string& name) {
  std::string result = "\"";
  for (const char c : name) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + "\"";
}

/// INSERT INTO "t" ("a", "b") VALUES (?, ?), (?, ?)
std::int64_t insert(SharedSession& session, const std::string& table, const py::iterable& rows,
                    const std::optional<std::vector<std::string>>& columns,
                    const py::object& progress) {
  std::string text = "INSERT INTO " + quoted(table);
  if (columns) {
    text += " (";
    for (std::size_t c = 0; c < columns->size(); ++c)
      text += (c > 0 ? ", " : "") + quoted((*columns)[c]);
    text += ")";
  }
  std::vector<SqlValue> values;
  std::int64_t count = 0;
  std::size_t width = 0;
  std::string marks;
  for (const py::handle& row : rows) {
    const std::vector<SqlValue> cells = as_row(row, count);
    values.insert(values.end(), cells.begin(), cells.end());
    const std::size_t wide = cells.size();
    if (count == 0) {
      width = wide;
      for (std::size_t c = 0; c < width; ++c) marks += c > 0 ? ", ?" : "?";
    }
    TESSERA_REQUIRE(TypeError, wide == width && wide > 0,
                    "row {} has {} values, but the first row has {}", count, wide, width);
    text += (count++ == 0 ? " VALUES (" : ", (") + marks + ")";
  }
  if (count > 0) (void)session.execute(text, values, progress);
  return count;
}

}  // namespace

void bind_sql(py::module_& module, py::class_<Database>& database) {
  bind_results(module);
  const auto none = py::none();
  py::class_<SharedSession, std::shared_ptr<SharedSession>>(
      module, "Session",
      "A session: it executes SQL statements on a database and keeps their settings.")
      .def(
          "sql",
          [](SharedSession& self, const std::string& text, const py::object& values,
             const py::object& progress) {
            std::vector<StatementResult> results = self.execute(text, as_values(values), progress);
            return results.empty() ? StatementResult{} : std::move(results.back());
          },
          py::arg("text"), py::arg("values") = none, py::kw_only(), py::arg("progress") = none,
          "Executes statements and returns the Result of the last one. Each ? is replaced by the "
          "next of `values`: a number, str, None, or an array (a tensor). `progress` is called "
          "with "
          "a Progress from time to time. Ctrl-C stops the statement, and so does an exception of "
          "`progress`.")
      .def(
          "execute",
          [](SharedSession& self, const std::string& text, const py::object& values,
             const py::object& progress) {
            return self.execute(text, as_values(values), progress);
          },
          py::arg("text"), py::arg("values") = none, py::kw_only(), py::arg("progress") = none,
          "Like sql(), but returns the Results of all statements, including those inside EXECUTE.")
      .def("insert", &insert, py::arg("table"), py::arg("rows"), py::kw_only(),
           py::arg("columns") = none, py::arg("progress") = none,
           "Inserts rows, each a sequence of values, into a table, atomically. Returns their "
           "number.");
  const auto open = [](const Database& self, const py::object& memory_limit, int threads, int sites,
                       const std::string& temporary_folder, bool optimize, int frame_size,
                       const py::object& external_access, const std::string& trace) {
    SessionOptions options;
    options.external_access = as_access(external_access);
    options.run = run_options(false, sites, threads, memory_limit, temporary_folder);
    options.run.optimize = optimize;
    options.frame_size = frame_size;
    if (!trace.empty())
      options.run.observer = std::make_shared<Trace>(
          trace, options.run, self.external_access().and_only(options.external_access));
    return std::make_shared<SharedSession>(self, options);
  };
  database
      .def("session", open, py::kw_only(), py::arg("memory_limit") = none, py::arg("threads") = 0,
           py::arg("sites") = 1, py::arg("temporary_folder") = "", py::arg("optimize") = true,
           py::arg("frame_size") = 0, py::arg("external_access") = "on", py::arg("trace") = "",
           "Opens a session. Settings that SET changes hold for its later statements. "
           "`external_access` limits the files and servers that statements may use: \"on\", "
           "\"off\", "
           "or a list of folders. `trace` names a file for a trace of all runs, for Perfetto and "
           "chrome://tracing.")
      .def(
          "sql",
          [open](const Database& self, const std::string& text, const py::object& values,
                 const py::object& progress) {
            const auto session = open(self, py::none(), 0, 1, "", true, 0, py::str("on"), "");
            std::vector<StatementResult> results =
                session->execute(text, as_values(values), progress);
            if (results.empty()) return StatementResult{};
            TESSERA_REQUIRE(TypeError, results.back().command != "SET",
                            "SET has no effect here, because the session ends with this call; use "
                            "db.session() for settings that last");
            return std::move(results.back());
          },
          py::arg("text"), py::arg("values") = none, py::kw_only(), py::arg("progress") = none,
          "Executes statements in a new session and returns the Result of the last one. See "
          "Session.sql.");
}

}  // namespace tessera::python
