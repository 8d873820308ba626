#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <iostream>
#include <random>
#include <stdexcept>
#include <thread>

#include "crash/processes.h"
#include "crash/sql_database.h"
#include "crash/workload.h"

// Many who read beside several who write: a statement sees one state of the database, whatever it
// reads. The writers keep what holds of every state, across tables, and the readers look for it.

namespace tessera::crash {
namespace {

namespace fs = std::filesystem;

struct Watched {
  std::atomic<bool> stop = false;
  std::atomic<std::int64_t> statements = 0, looks = 0, again = 0;
};

/// A table of one column of integers, as SQL would make it.
Relation numbers(std::int64_t from, std::int64_t count, std::int64_t value) {
  std::vector<Tuple> tuples;
  for (std::int64_t i = 0; i < count; ++i) tuples.push_back({{from + i}, {Tile::scalar(value)}});
  return Relation::of(std::move(tuples), Presence::partial);
}

/// One state: `a` and `b` have the same number of rows, the numbers in `t` add up to 0, there is
/// just one of `here` and `there`, and all that `constant` holds is the same.
void make(const fs::path& folder) {
  Session session(Database::open(folder));
  session.execute(
      "CREATE TABLE a AS SELECT 1 AS n; CREATE TABLE b AS SELECT 1 AS n; "
      "CREATE TABLE t (n BIGINT, word TEXT); INSERT INTO t VALUES (1, 'one'), (-1, 'one'); "
      "CREATE TABLE here AS SELECT 1 AS n; CREATE TABLE constant AS SELECT 0 AS n; "
      "CREATE VIEW both AS SELECT COUNT(*) AS n FROM a");
}

/// Appends to two tables at once, or makes them short again; once more if somebody else has.
void change_both(Database& database, std::mt19937_64& random, Watched& progress) {
  for (;;) {
    const Snapshot seen = database.snapshot();
    const std::int64_t rows = seen.info("a").statistics.tuples;
    Changes changes;
    changes.since = seen;
    changes.relations_as_then = {"a", "b"};
    if (rows > 40) {
      changes.dropped = {"a", "b"};
      changes.results = {{"a", Plan::input(numbers(0, 1, 7))},
                         {"b", Plan::input(numbers(0, 1, 7))}};
    } else {
      const auto more = static_cast<std::int64_t>(random() % 3) + 1;
      changes.appended = {{"a", numbers(rows, more, 7)}, {"b", numbers(rows, more, 7)}};
    }
    try {
      (void)database.change(changes);
      return;
    } catch (const Outdated&) {
      ++progress.again;
    }
  }
}

/// Does what needs a table that others drop and make again, or rename: then it is not there for a
/// moment, and the statement says one of these.
void unless(const std::vector<std::string>& messages, const std::function<void()>& action) {
  try {
    action();
  } catch (const StatementError& error) {
    const std::string said = error.what();
    require(std::string(error.kind()) == "TypeError" &&
                std::any_of(messages.begin(), messages.end(),
                            [&](const std::string& one) { return said.starts_with(one); }),
            said);
  }
}

const std::vector<std::string> t_is_gone{"table \"t\" not found;"};

void write(const fs::path& folder, std::uint64_t seed, Watched& progress) {
  Session session(Database::open(folder, {.lock_seconds = 60}));
  Database& database = session.database();
  std::mt19937_64 random(seed);
  while (!progress.stop) {
    const auto number = static_cast<std::int64_t>(random() % 100);
    switch (random() % 6) {
      case 0:
      case 1: change_both(database, random, progress); break;
      case 2:
        unless(t_is_gone, [&] {
          session.execute(fmt::format("INSERT INTO t VALUES ({0}, 'word {0}'), ({1}, 'word {0}')",
                                      number, -number));
        });
        break;
      case 3: {
        const bool to = random() % 2 == 0;
        unless({fmt::format("table \"{}\" not found;", to ? "here" : "there"),
                fmt::format("table \"{}\" already exists", to ? "there" : "here")},
               [&] {
                 session.execute(fmt::format("ALTER TABLE {} RENAME TO {}", to ? "here" : "there",
                                             to ? "there" : "here"));
               });
        break;
      }
      case 4: {
        Changes changes{.dropped = {"constant"},
                        .results = {{"constant", Plan::input(numbers(0, 20, number))}}};
        (void)database.change(changes);
        break;
      }
      default:
        if (seed % 3 == 0) (void)database.vacuum();
        if (seed % 3 == 1) database.checkpoint();
        if (seed % 3 != 2) break;
        unless(t_is_gone, [&] {
          if (rows_of(session, "SELECT COUNT(*) > 60 AS n FROM t") != "n BOOLEAN|\ntrue|") return;
          const Snapshot seen = database.snapshot();
          const std::vector<std::string> there = seen.names();
          if (std::find(there.begin(), there.end(), "t") == there.end()) return;
          Changes changes{.since = seen, .relations_as_then = {"t"}};
          changes.dropped = {"t"};
          changes.texts["sql/table/t"] = std::nullopt;
          try {
            (void)database.change(changes);
          } catch (const Outdated&) {
            ++progress.again;
            return;
          }
          session.execute("CREATE TABLE IF NOT EXISTS t (n BIGINT, word TEXT)");
        });
    }
    ++progress.statements;
  }
}

void read(const fs::path& folder, std::uint64_t seed, Watched& progress) {
  Session session(Database::open(folder, {.create = false, .read_only = seed % 2 == 0}));
  std::mt19937_64 random(seed);
  while (!progress.stop) {
    switch (random() % 6) {
      case 0: {
        const std::string counts =
            rows_of(session, "SELECT (SELECT COUNT(*) FROM a) - (SELECT COUNT(*) FROM b) AS n");
        require(counts.ends_with("\n0|"), "a and b differ: " + counts);
        break;
      }
      case 1: {
        const std::string counts =
            rows_of(session, "SELECT (SELECT n FROM both) - (SELECT COUNT(*) FROM b) AS n");
        require(counts.ends_with("\n0|"), "the view and b differ: " + counts);
        break;
      }
      case 2: {
        const std::string sum = rows_of(session, "SELECT COUNT(DISTINCT n) AS n FROM constant");
        require(sum.ends_with("\n1|"), "constant is not: " + sum);
        break;
      }
      case 3: {
        const std::string all = rows_of(session, "SHOW TABLES");
        const bool here = all.find("\nhere|") != std::string::npos,
                   there = all.find("\nthere|") != std::string::npos;
        require(here != there, "of here and there are: " + all);
        break;
      }
      case 4:
        unless(t_is_gone, [&] {
          const std::string sum = rows_of(session, "SELECT SUM(n) AS n, MIN(word) AS w FROM t");
          require(sum.find("\n0|") != std::string::npos || sum.find("NULL") != std::string::npos,
                  "the numbers add up to " + sum);
        });
        break;
      default: {
        const Snapshot one = session.database().snapshot();
        try {
          require(one.read("a").size() == one.read("b").size(), "a and b of a snapshot differ");
        } catch (const Outdated&) {
          ++progress.again;
        }
      }
    }
    ++progress.looks;
  }
}

int number_of(const char* name, int usual) {
  const char* said = std::getenv(name);
  return said != nullptr && *said != '\0' ? std::atoi(said) : usual;
}

TEST(OneState, IsWhatEveryStatementSees) {
  const Folder folder;
  const fs::path database = folder / "database";
  (void)in_another_process([&] {
    make(database);
    return Answers{};
  });
  const Shared<Watched> progress;
  std::vector<pid_t> processes;
  const int readers = number_of("SOAK_READERS", 4), writers = number_of("SOAK_WRITERS", 3);
  for (int i = 0; i < writers; ++i)
    processes.push_back(start([&, i] { write(database, i, *progress); }));
  for (int i = 0; i < readers; ++i)
    processes.push_back(start([&, i] { read(database, i, *progress); }));
  const auto until =
      std::chrono::steady_clock::now() + std::chrono::seconds(number_of("SOAK_SECONDS", 4));
  while (std::chrono::steady_clock::now() < until && !any_ended(processes))
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  progress->stop = true;
  for (const pid_t process : processes) EXPECT_TRUE(wait_for(process, std::chrono::seconds(120)));
  std::cout << fmt::format(
      "{} readers looked {} times beside {} writers of {} statements; {} began "
      "anew\n",
      readers, progress->looks.load(), writers, progress->statements.load(),
      progress->again.load());
  EXPECT_GT(progress->statements, 10);
  EXPECT_GT(progress->looks, 10);
  EXPECT_TRUE(Database::open(database).check().empty());
}

}  // namespace
}  // namespace tessera::crash
