#include "crash/sql_database.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "crash/processes.h"
#include "support/expectations.h"
#include "tile/parcel.h"

namespace tessera::crash {
namespace {

constexpr const char* sql = R"(
CREATE TABLE people (id INT, name TEXT, weight DOUBLE);
INSERT INTO people VALUES (1, 'Ada', 1.5), (2, 'Bob', 2.5), (3, 'Ada', 3.5);
INSERT INTO people VALUES (4, 'a longer text, that is no name', -1);
CREATE TABLE empty (id INT, name TEXT);
CREATE TABLE cells (i INT, j INT, m MATRIX[2][2]);
INSERT INTO cells VALUES (0, 0, [[1, 2], [3, 4]]), (0, 1, [[5, 6], [7, 8]]), (1, 0, [[1, 1], [1, 1]]);
CREATE VIEW heavy AS SELECT name, weight FROM people WHERE weight > 2;
CREATE TABLE f[0] AS SELECT 1 AS n;
CREATE TABLE f[i:1...] AS SELECT g.n + 1 AS n FROM f[i - 1] AS g;
MATERIALIZE f[3];
CREATE TENSOR shape [4000][4000] TILE [1000][1000] VIRTUAL;
CREATE TABLE gone AS SELECT name FROM people;
DROP TABLE gone;
)";

constexpr const char* in_frames = "SELECT * FROM f[40]";

const std::vector<std::string>& questions() {
  static const std::vector<std::string> all{
      "SELECT * FROM people ORDER BY id",
      "SELECT * FROM empty",
      "SELECT i, j, m FROM cells ORDER BY i, j",
      "SELECT * FROM heavy ORDER BY weight",
      "SELECT * FROM f[5]",
      "SELECT SUM(sum_elements(tile)) FROM dense",
      "DESCRIBE people",
      "DESCRIBE cells",
      "DESCRIBE f",
      "DESCRIBE shape",
      "SHOW TABLES",
      "SHOW JOBS",
  };
  return all;
}

/// The bytes of a relation, as a number.
std::string contents(const Relation& relation) {
  std::uint64_t sum = 14695981039346656037u;
  for (const Tuple& tuple : relation.tuples()) {
    for (const std::int64_t component : tuple.key) sum = (sum ^ component) * 1099511628211u;
    const Parcel parcel = pack(tuple.tiles);
    for (const std::int64_t number : parcel.description) sum = (sum ^ number) * 1099511628211u;
    for (const auto& piece : parcel.pieces)
      for (const std::byte byte : piece)
        sum = (sum ^ std::to_integer<std::uint64_t>(byte)) * 1099511628211u;
  }
  return fmt::format("{} {} {:x}", to_string(relation.type()), relation.size(), sum);
}

std::string history_of(const Database& database) {
  std::string text;
  for (const PastRun& run : database.history())
    text += fmt::format("{} {} {} {};", run.at, run.name, run.plan, run.tasks);
  for (const KernelRate& rate : database.kernel_rates())
    text += fmt::format("{} {} {};", rate.kernel, rate.tasks, rate.flops);
  return text;
}

Answers ask(const std::filesystem::path& folder, const DatabaseOptions& options, bool each) {
  Answers answers;
  const auto put = [&](const std::string& question, const auto& answer) {
    try {
      answers[question] = answer();
    } catch (const Error& error) {
      if (!each) throw;
      answers[question] = fmt::format("error: {}: {}", error.kind(), error.what());
    }
  };
  std::optional<Session> session;
  put("open", [&] {
    session.emplace(Database::open(folder, options));
    return "";
  });
  if (!session) return answers;
  for (const std::string& question : questions())
    put(question, [&] { return rows_of(*session, question); });
  const Database& database = session->database();
  put("list", [&] {
    std::string names;
    for (const StoredInfo& info : database.list())
      names += fmt::format("{} {} {} {};", info.name, to_string(info.type), info.bytes,
                           info.statistics.tuples);
    return names;
  });
  for (const char* name : {"dense", "sparse", "flags", "product", "people", "cells"})
    put(name, [&] { return contents(database.read(name)); });
  put("history", [&] { return history_of(database); });
  put("texts", [&] {
    std::string texts;
    for (const auto& [name, text] : database.texts()) texts += name + "=" + text + ";";
    return texts;
  });
  return answers;
}

}  // namespace

void make_sql_database(const std::filesystem::path& folder) {
  Session session(Database::open(folder));
  Database& database = session.database();
  database.store("dense",
                 Relation::from_tensor(random_integers(DType::f64, {7, 5}, 1, 0, 9), {3, 3}));
  database.store("sparse", Relation::from_tensor(random_sparse({DType::f32, {12, 12}, 1}, 2, 0.1),
                                                 {4, 4}, Presence::sparse));
  database.store("flags",
                 Relation::from_tensor(random_sparse({DType::boolean, {6}, 1}, 3, 0.4), {4}));
  session.execute(sql);
  session.execute("CREATE TENSOR product AS dense @ transpose(dense)");
  // A statement that is stopped after some of its frames.
  SessionOptions small{.frame_size = 8};
  std::stop_source stop;
  int frames = 0;
  small.run.stop = stop.get_token();
  small.run.progress_seconds = 0;
  small.run.progress = [&](const Progress& progress) {
    frames = std::max(frames, progress.frame);
    if (frames > 3) stop.request_stop();
  };
  try {
    Session stopped(Database::open(folder), small);
    stopped.execute(in_frames);
  } catch (const Error&) {
    // It was stopped.
  }
}

Answers ask_all(const std::filesystem::path& folder, const DatabaseOptions& options) {
  return ask(folder, options, false);
}
Answers ask_each(const std::filesystem::path& folder, const DatabaseOptions& options) {
  return ask(folder, options, true);
}

Answers in_another_process(const std::function<Answers()>& body) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t process = start([&] {
    const std::string said = nlohmann::json(body()).dump();
    for (std::size_t at = 0; at < said.size();) {
      const ssize_t count = ::write(ends[1], said.data() + at, said.size() - at);
      if (count <= 0) throw std::runtime_error("the answers cannot be told");
      at += static_cast<std::size_t>(count);
    }
  });
  ::close(ends[1]);
  std::string said;
  char part[4096];
  for (ssize_t count = 0; (count = ::read(ends[0], part, sizeof part)) > 0;)
    said.append(part, static_cast<std::size_t>(count));
  ::close(ends[0]);
  EXPECT_TRUE(wait_for(process, std::chrono::seconds(120)));
  return said.empty() ? Answers{} : nlohmann::json::parse(said).get<Answers>();
}

std::string rows_of(Session& session, const std::string& query) {
  const ResultTable table = session.query(query);
  std::string text;
  for (const ResultColumn& column : table.columns()) text += column.name + " " + column.type + "|";
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    text += "\n";
    for (std::size_t c = 0; c < table.columns().size(); ++c)
      text += table.text(row, static_cast<int>(c)) + "|";
  }
  return text;
}

}  // namespace tessera::crash
