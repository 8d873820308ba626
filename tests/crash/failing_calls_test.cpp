#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <iostream>

#include "crash/disk.h"
#include "crash/processes.h"
#include "crash/sql_database.h"
#include "crash/workload.h"
#include "support/old_database.h"

// Every call to the disk that a statement makes fails once: the statement happens, or it says why
// it does not and has not happened, or it says that this is not known. The next one finds all well.

namespace tessera::crash {
namespace {

namespace fs = std::filesystem;

struct Outcome {
  std::int64_t calls = 0;
  bool done = false;
  char message[600] = {};
};

/// "{}" is the folder of the files that they read and write, which is watched as the database is.
const std::vector<std::string>& statements() {
  static const std::vector<std::string> all{
      "CREATE TABLE t (a INT, b TEXT)",
      "INSERT INTO people VALUES (9, 'a new one', 0)",
      "INSERT INTO cells VALUES (-1, 7, [[1, 2], [3, 4]])",
      "CREATE TABLE t AS SELECT name, weight FROM people",
      "CREATE TENSOR t AS dense @ transpose(dense)",
      "SET memory_limit = '700 B'; CREATE TENSOR t AS (dense @ transpose(dense)) @ dense",  // spills
      "CREATE TENSOR t FROM '{}/numbers.csv'",
      "CREATE TENSOR t FROM '{}/numbers.npy'",
      "CREATE TENSOR t FROM '{}/numbers.npz'",
      "CREATE TENSOR t FROM '{}/numbers.mtx'",
      "CREATE TENSOR t [4][4] TILE [2][2] VIRTUAL",
      "CREATE VIEW t AS SELECT id FROM people",
      "CREATE TABLE t[0] AS SELECT 1 AS n",
      "MATERIALIZE f[4]",
      "EXECUTE (MATERIALIZE f[6]; SELECT * FROM f[2])",
      "COPY empty FROM '{}/rows.csv'",
      "COPY people TO '{}/out.csv'",
      "COPY dense TO '{}/out.npy'",
      "COPY dense TO '{}/out.npz'",
      "COPY sparse TO '{}/out.mtx'",
      "ALTER TABLE people RENAME TO persons",
      "ALTER VIEW heavy RENAME TO heavier",
      "DROP TABLE people",
      "DROP TABLE f[3]",
      "DROP VIEW heavy",
      "DROP TENSOR sparse",
      "DROP JOB IF EXISTS nothing",
      "DROP JOB {job}",
      "VACUUM",
      "CHECKPOINT",
      "EXPLAIN ANALYZE CREATE TENSOR t AS dense @ transpose(dense)",
      "EXPLAIN ANALYZE SELECT * FROM f[30]",
      "SHOW TABLES",
      "SELECT * FROM people",
      "SELECT * FROM f[40]",
      "-- old\nCREATE TABLE t (a INT, b TEXT)",  // in a database with a catalogue of SQLite
      "-- old\nSHOW TABLES",
  };
  return all;
}

void put_in(std::string& text, std::string_view what, const std::string& value) {
  if (const auto found = text.find(what); found != std::string::npos)
    text.replace(found, what.size(), value);
}

std::string job_of(const fs::path& database) {
  Session session(Database::open(database));
  return session.query("SHOW JOBS").text(0, 0);
}

void run(const fs::path& files, std::string text, disk_fault fault, std::int64_t at,
         Outcome& outcome) {
  const fs::path database = files / "database";
  put_in(text, "{}", files.string());
  if (text.find("{job}") != std::string::npos) put_in(text, "{job}", job_of(database));
  ::setenv("TMPDIR", files.c_str(), 1);
  disk_set(files.c_str(), at > 0 ? fault : disk_well, disk_every, at, 1);
  try {
    Session session(Database::open(database), {.frame_size = 8});
    session.execute(text);
    outcome.done = true;
  } catch (const Error& error) {
    std::snprintf(outcome.message, sizeof outcome.message, "%s: %s", error.kind(), error.what());
  }
  outcome.calls = disk_calls();
}

/// What can be seen of a database, but for what was computed when, and of files beside it. A job
/// that fails may be further than it was.
Answers state_of(const fs::path& files, bool with_jobs) {
  const fs::path database = files / "database";
  Answers answers = ask_each(database);
  answers.erase("history");
  answers.erase("texts");
  if (!with_jobs) answers.erase("SHOW JOBS");
  Session session(Database::open(database));
  answers["check"] = session.database().check().empty() ? "" : "damaged";
  for (const char* more :
       {"SELECT * FROM t", "SELECT * FROM persons ORDER BY id", "SELECT * FROM t[0]", "DESCRIBE t",
        "SELECT COUNT(*) FROM cells", "SELECT * FROM empty", "SELECT * FROM heavier"}) {
    try {
      answers[more] = rows_of(session, more);
    } catch (const Error& error) {
      answers[more] = error.kind();
    }
  }
  for (const auto& file : fs::directory_iterator(files))
    if (file.is_regular_file())
      answers["file " + file.path().filename().string()] = fmt::format("{}", file.file_size());
  return answers;
}

/// A database, one of an older version, and files.
void make_originals(const fs::path& folder) {
  fs::create_directories(folder);
  make_sql_database(folder / "database");
  std::ofstream(folder / "numbers.csv") << "1,2\n3,4\n";
  std::ofstream(folder / "rows.csv") << "id,name\n1,one\n2,two\n";
  Session session(Database::open(folder / "old"));
  session.execute(fmt::format("CREATE TENSOR dense FROM '{}/numbers.csv'", folder.string()));
  for (const char* format : {"npy", "npz", "mtx"})
    session.execute(fmt::format("COPY dense TO '{}/numbers.{}'", folder.string(), format));
  make_old(folder / "old", 2);
}

class FailingCalls : public ::testing::TestWithParam<disk_fault> {};

TEST_P(FailingCalls, OfEveryStatementAreTold) {
  const Folder folder;
  const fs::path original = folder / "original", files = folder / "tried";
  (void)in_another_process([&] {
    make_originals(original);
    return Answers{};
  });
  int tried = 0, failed = 0, in_doubt = 0;
  const auto attempt = [&](const std::string& statement, std::int64_t at, Outcome& outcome) {
    fs::remove_all(files);
    fs::copy(original, files, fs::copy_options::recursive);
    const bool old = statement.starts_with("-- old");
    fs::remove_all(files / (old ? "database" : "old"));
    if (old) fs::rename(files / "old", files / "database");
    const Shared<Outcome> seen;
    EXPECT_TRUE(wait_for(start([&] { run(files, statement, GetParam(), at, *seen); }),
                         std::chrono::seconds(60)));
    outcome = *seen;
  };
  Outcome outcome;
  for (const std::string& statement : statements()) {
    const bool with_jobs = statement.starts_with("DROP JOB");
    const auto state = [&] {
      return in_another_process([&] { return state_of(files, with_jobs); });
    };
    attempt(statement.starts_with("-- old") ? "-- old\nSELECT 1" : "SELECT 1", 0, outcome);
    const Answers before = state();
    attempt(statement, 0, outcome);
    ASSERT_TRUE(outcome.done) << statement << ": " << outcome.message;
    const Answers after = state();
    const std::int64_t calls = outcome.calls;
    EXPECT_GT(calls, 3) << statement;
    for (std::int64_t at = 1; at <= calls; ++at) {
      SCOPED_TRACE(::testing::Message() << statement << ", call " << at << " of " << calls);
      attempt(statement, at, outcome);
      ++tried;
      const std::string message = outcome.message;
      const bool doubt = message.find("it is not known whether") != std::string::npos;
      const Answers now = state();
      if (outcome.done) {
        EXPECT_EQ(now, after);
      } else {
        ++failed;
        in_doubt += doubt ? 1 : 0;
        EXPECT_TRUE(now == before || (doubt && now == after)) << message;
        EXPECT_TRUE(message.starts_with("IoError: ")) << message;
      }
      EXPECT_EQ(now.at("check"), "");
      if (::testing::Test::HasFailure()) return;
    }
  }
  EXPECT_GT(tried, 100);
  std::cout << fmt::format("{} calls failed, and {} statements; of {} it is not known\n", tried,
                           failed, in_doubt);
}

INSTANTIATE_TEST_SUITE_P(All, FailingCalls, ::testing::Values(disk_io_error, disk_no_space),
                         [](const auto& of) {
                           return of.param == disk_io_error ? "IoError" : "NoSpace";
                         });

}  // namespace
}  // namespace tessera::crash
