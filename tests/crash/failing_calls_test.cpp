#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <iostream>

#include "crash/disk.h"
#include "crash/processes.h"
#include "crash/sql_database.h"
#include "crash/workload.h"

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

const std::vector<std::string>& statements() {
  static const std::vector<std::string> all{
      "CREATE TABLE t (a INT, b TEXT)",
      "INSERT INTO people VALUES (9, 'a new one', 0)",
      "INSERT INTO cells VALUES (-1, 7, [[1, 2], [3, 4]])",
      "CREATE TABLE t AS SELECT name, weight FROM people",
      "CREATE TENSOR t AS dense @ transpose(dense)",
      "CREATE TENSOR t FROM '{}/numbers.csv'",
      "CREATE VIEW t AS SELECT id FROM people",
      "CREATE TABLE t[0] AS SELECT 1 AS n",
      "MATERIALIZE f[4]",
      "COPY empty FROM '{}/rows.csv'",
      "COPY people TO '{}/out.csv'",
      "ALTER TABLE people RENAME TO persons",
      "DROP TABLE people",
      "DROP TENSOR sparse",
      "DROP JOB IF EXISTS nothing",
      "VACUUM",
      "SHOW TABLES",
      "SELECT * FROM people",
      "SELECT * FROM f[40]",
  };
  return all;
}

void run(const fs::path& database, const fs::path& files, const std::string& statement,
         disk_fault fault, std::int64_t at, Outcome& outcome) {
  disk_set(database.c_str(), at > 0 ? fault : disk_well, disk_every, at, 1);
  try {
    Session session(Database::open(database), {.frame_size = 8});
    std::string text = statement;
    if (const auto braces = text.find("{}"); braces != std::string::npos)
      text.replace(braces, 2, files.string());
    session.execute(text);
    outcome.done = true;
  } catch (const Error& error) {
    std::snprintf(outcome.message, sizeof outcome.message, "%s: %s", error.kind(), error.what());
  }
  outcome.calls = disk_calls();
}

/// What can be seen of a database, but for what was computed when.
Answers state_of(const fs::path& database) {
  Answers answers = ask_each(database);
  answers.erase("history");
  answers.erase("texts");
  answers.erase("SHOW JOBS");
  Session session(Database::open(database));
  answers["check"] = session.database().check().empty() ? "" : "damaged";
  for (const char* more :
       {"SELECT * FROM t", "SELECT * FROM persons ORDER BY id", "SELECT * FROM t[0]", "DESCRIBE t",
        "SELECT COUNT(*) FROM cells", "SELECT * FROM empty"}) {
    try {
      answers[more] = rows_of(session, more);
    } catch (const Error& error) {
      answers[more] = error.kind();
    }
  }
  return answers;
}

class FailingCalls : public ::testing::TestWithParam<disk_fault> {};

TEST_P(FailingCalls, OfEveryStatementAreTold) {
  const Folder folder;
  const fs::path original = folder / "original", database = folder / "database";
  (void)in_another_process([&] {
    make_sql_database(original);
    return Answers{};
  });
  std::ofstream(folder / "numbers.csv") << "1,2\n3,4\n";
  std::ofstream(folder / "rows.csv") << "id,name\n1,one\n2,two\n";
  const fs::path files = (folder / "").parent_path();
  int tried = 0, failed = 0, in_doubt = 0;
  const auto attempt = [&](const std::string& statement, std::int64_t at, Outcome& outcome) {
    fs::remove_all(database);
    fs::copy(original, database, fs::copy_options::recursive);
    const Shared<Outcome> seen;
    EXPECT_TRUE(wait_for(start([&] { run(database, files, statement, GetParam(), at, *seen); }),
                         std::chrono::seconds(60)));
    outcome = *seen;
  };
  Outcome outcome;
  attempt("SELECT 1", 0, outcome);
  const auto state = [&] { return in_another_process([&] { return state_of(database); }); };
  const Answers before = state();
  for (const std::string& statement : statements()) {
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
