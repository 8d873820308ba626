#include "tessera/session.h"

#include <sys/file.h>

#include <fstream>
#include <map>
#include <thread>

#include "base/file.h"
#include "session/job_lock.h"
#include "support/database_folder.h"

namespace tessera {
namespace {

using SessionValues = DatabaseFolder;
using SessionJobs = DatabaseFolder;

TEST_F(SessionValues, StandForEachQuestionMark) {
  Session session(open());
  session.execute("CREATE TABLE t (i INT, s TEXT, m MATRIX[2][2])");
  const Tile tile = Tile::of<double>({2, 2}, {1, 2, 3, 4});
  session.execute("INSERT INTO t VALUES (?, ?, ?)", {std::int64_t{1}, "it's; --", tile});
  const ResultTable rows =
      session.query("SELECT s, m @ ?, ? FROM t WHERE i = ?", {tile, SqlValue{}, std::int64_t{1}});
  ASSERT_EQ(rows.rows(), 1);
  EXPECT_EQ(std::get<std::string>(rows.at(0, 0)), "it's; --");
  EXPECT_EQ(to_string(std::get<Tile>(rows.at(0, 1))),
            to_string(Tile::of<double>({2, 2}, {7, 10, 15, 22})));
  EXPECT_TRUE(std::holds_alternative<std::monostate>(rows.at(0, 2)));
  EXPECT_EQ(message_of([&] { session.execute("SELECT ?; SELECT ?", {true}); }),
            "ParseError: too few values for the parameters (?): found only 1");
}

using SessionSettings = DatabaseFolder;

TEST_F(SessionSettings, HowLongAWriterWaitsIsOneOfThem) {
  Session session(open({.lock_seconds = 20}));
  EXPECT_EQ(session.execute("SET lock_seconds = 0.01")[0].message, "set lock_seconds to 0.01");
  const File held = File::open_to_write(folder_ / "lock");
  ASSERT_EQ(::flock(held.descriptor(), LOCK_EX), 0);
  for (const char* statement : {"CREATE TABLE t (x INT)", "CHECKPOINT", "VACUUM"}) {
    const std::string message = message_of([&] { session.execute(statement); });
    EXPECT_NE(message.find("has not finished after 0.01 s"), std::string::npos) << message;
  }
  EXPECT_EQ(session.execute("RESET lock_seconds")[0].message, "set lock_seconds to 20");
  EXPECT_EQ(Session(open(), {.lock_seconds = 3}).execute("RESET lock_seconds")[0].message,
            "set lock_seconds to 10");
  EXPECT_EQ(Session(open(), {.lock_seconds = 3}).database().lock_seconds(), 3);
  for (const char* wrong : {"-1", "'long'", "TRUE", "[1, 2]"})
    EXPECT_TRUE(message_of([&] {
                  session.execute(std::string("SET lock_seconds = ") + wrong);
                }).starts_with("TypeError: "))
        << wrong;
}

TEST_F(SessionSettings, OfAReadOnlyDatabaseEveryStatementThatWritesIsRefused) {
  Session(open()).execute(
      "CREATE TABLE t (x INT); INSERT INTO t VALUES (7); CREATE TENSOR X AS [[1, 2], [3, 4]];"
      "CREATE TABLE v[0] AS SELECT x FROM t; CREATE TABLE v[i:1...] AS SELECT x FROM v[i-1]");
  Session session(open({.read_only = true}));
  for (const char* statement :
       {"CREATE TABLE u (x INT)", "CREATE TABLE u AS SELECT 1 AS a", "CREATE TENSOR Y AS X @ X",
        "CREATE VIEW w AS SELECT x FROM t", "CREATE TABLE p[0] AS SELECT 1 AS a",
        "INSERT INTO t VALUES (8)", "COPY t FROM 'no.csv'", "CREATE TENSOR Y FROM 'no.npy'",
        "DROP TABLE t", "ALTER TENSOR X RENAME TO Y", "DROP JOB IF EXISTS j", "MATERIALIZE v[3]",
        "CHECKPOINT", "VACUUM"})
    EXPECT_EQ(message_of([&] { session.execute(statement); }),
              fmt::format("IoError: database \"{}\" is read-only", folder_.string()))
        << statement;
  EXPECT_EQ(session.query("SELECT x FROM v[3]").text(0, 0), "7");
  EXPECT_EQ(session.query("SHOW JOBS").rows(), 0);
}

/// The files below a folder, with what is in them and when they were changed.
std::map<std::string, std::string> state_of(const std::filesystem::path& folder) {
  std::map<std::string, std::string> state;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    std::string& told = state[entry.path()];
    told = std::to_string(entry.last_write_time().time_since_epoch().count());
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    told.append(std::istreambuf_iterator<char>(file), {});
  }
  return state;
}

TEST_F(SessionSettings, OfAReadOnlyDatabaseFramesAreKeptElsewhere) {
  Session(open()).execute(
      "CREATE TABLE v[0] AS SELECT 0 AS k, [[1, 2], [3, 4]] AS m, 'one' AS name;"
      "CREATE TABLE v[i:1...] AS SELECT k, m + 1 AS m, name FROM v[i-1];"
      "CREATE TABLE w[0] AS SELECT 0 AS k, 1 AS x;"
      "CREATE TABLE w[i:1...] AS SELECT k, CASE WHEN x < 5 THEN x + 1 END AS x FROM w[i-1]");
  const auto before = state_of(folder_);
  Session session(open({.read_only = true}));
  int frames = 0;
  session.run_options().progress = [&](const Progress& progress) { frames = progress.frames; };
  session.execute("SET frame_size = 4");
  const ResultTable rows = session.query("SELECT m, name FROM v[30]");
  EXPECT_GT(frames, 3);
  EXPECT_EQ(session.query("SELECT x FROM w[30]").text(0, 0), "NULL");
  // What was kept elsewhere is gone, and rows can still be read.
  EXPECT_EQ(rows.text(0, 0), "[[31 32]\n [33 34]]");
  EXPECT_EQ(rows.text(0, 1), "one");
  const ResultTable analyzed = session.query("EXPLAIN ANALYZE SELECT m FROM v[30]");
  std::string lines;
  for (std::int64_t row = 0; row < analyzed.rows(); ++row) lines += analyzed.text(row, 0) + "\n";
  EXPECT_NE(lines.find("frames, 0 of them computed before"), std::string::npos) << lines;
  const std::string file = folder_.string() + ".csv";
  session.execute("COPY (SELECT name FROM v[20]) TO '" + file + "'");
  EXPECT_TRUE(std::filesystem::remove(file));
  EXPECT_EQ(session.query("SHOW JOBS").rows(), 0);
  EXPECT_EQ(state_of(folder_), before);
}

/// A statement in frames that was stopped after two of them.
void leave_a_job(Session& session, const std::string& text) {
  std::stop_source source;
  RunOptions& options = session.run_options();
  options.stop = source.get_token();
  options.progress = [&](const Progress& progress) {
    if (progress.frame == 3) source.request_stop();
  };
  EXPECT_TRUE(message_of([&] { session.execute(text); }).starts_with("Interrupted"));
  options.stop = {};
  options.progress = {};
}

constexpr const char* recursion =
    "CREATE TABLE x[0] AS SELECT 0 AS k, [[1, 2], [3, 4]] AS m;"
    "CREATE TABLE x[i:1...] AS SELECT k, m + 1 AS m FROM x[i-1]; SET frame_size = 4";

TEST_F(SessionJobs, AreShownAndDropped) {
  Session session(open());
  session.execute(recursion);
  EXPECT_EQ(session.query("SHOW JOBS").rows(), 0);
  leave_a_job(session, "SELECT m\n  FROM x[40]");
  const ResultTable jobs = session.query("SHOW JOBS");
  ASSERT_EQ(jobs.rows(), 1);
  const std::string name = jobs.text(0, 0);
  EXPECT_EQ(jobs.text(0, 1), "stopped");
  EXPECT_TRUE(jobs.text(0, 2).starts_with("2 of "));
  EXPECT_NE(jobs.text(0, 3), "0 B");
  EXPECT_EQ(jobs.text(0, 4), "SELECT m FROM x[40]");
  EXPECT_EQ(session.execute("DROP JOB " + name)[0].message, "dropped job " + name);
  EXPECT_EQ(session.query("SHOW JOBS").rows(), 0);
  EXPECT_EQ(names_in(session.database()), "");
  EXPECT_EQ(message_of([&] { session.execute("DROP JOB " + name); }),
            "TypeError: job \"" + name + "\" not found; SHOW JOBS lists all jobs");
  EXPECT_EQ(session.execute("DROP JOB IF EXISTS " + name)[0].message,
            "job " + name + " does not exist, skipping");
  EXPECT_EQ(session.query("SELECT m FROM x[40]").rows(), 1);
}

TEST_F(SessionJobs, OfTensorsThatAreGivenAreToldApart) {
  Session session(open());
  session.execute(recursion);
  const auto run = [&](double value) {
    const Tile tile = Tile::full(DType::f64, {2, 2}, value);
    return session.query("SELECT sum_elements(m * ?) FROM x[40]", {tile}).text(0, 0);
  };
  RunOptions& options = session.run_options();
  std::stop_source source;
  options.stop = source.get_token();
  options.progress = [&](const Progress& progress) {
    if (progress.frames > 0 && progress.frame == progress.frames) source.request_stop();
  };
  EXPECT_TRUE(message_of([&] { (void)run(1); }).starts_with("Interrupted"));
  options.stop = {};
  options.progress = {};
  EXPECT_EQ(run(2), "340");  // 2 * (10 + 40 * 4)
  EXPECT_EQ(session.query("SHOW JOBS").rows(), 1);
  EXPECT_EQ(run(1), "170");
  EXPECT_EQ(session.query("SHOW JOBS").rows(), 0);
}

TEST_F(SessionJobs, BelongToOneSessionAtATime) {
  Session one(open()), other(open());
  one.execute(recursion);
  other.execute("SET frame_size = 4");
  leave_a_job(one, "SELECT m FROM x[40]");
  const std::string name = one.query("SHOW JOBS").text(0, 0);

  std::string message, state, dropping;
  one.run_options().progress = [&](const Progress& progress) {
    if (progress.frame != 5 || !message.empty()) return;
    message = message_of([&] { other.execute("SELECT m FROM x[40]"); });
    dropping = message_of([&] { other.execute("DROP JOB " + name); });
    state = other.query("SHOW JOBS").text(0, 1);
  };
  EXPECT_EQ(one.query("SELECT m FROM x[40]").rows(), 1);
  const std::string taken =
      fmt::format("IoError: job \"{}\" is running in process {}; wait for it, or stop that process",
                  name, ::getpid());
  EXPECT_EQ(message, taken);
  EXPECT_EQ(dropping, taken);
  EXPECT_EQ(state, fmt::format("running in process {}", ::getpid()));
  EXPECT_EQ(other.query("SELECT m FROM x[40]").rows(), 1);
  EXPECT_EQ(one.query("SHOW JOBS").rows(), 0);
}

TEST_F(SessionJobs, LocksGoWithWhoHasThem) {
  (void)open();
  {
    const auto held = session::JobLock::take(folder_, "a");
    ASSERT_TRUE(held);
    EXPECT_FALSE(session::JobLock::take(folder_, "a"));
    EXPECT_TRUE(session::JobLock::take(folder_, "b"));
    EXPECT_EQ(session::JobLock::holder(folder_, "a"), std::to_string(::getpid()));
  }
  EXPECT_EQ(session::JobLock::holder(folder_, "a"), std::nullopt);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "job-a.lock"));
  // Many at once: never two of them have it, though each removes the file when it is done.
  std::atomic<int> holders = 0, most = 0, taken = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i)
        if (const auto held = session::JobLock::take(folder_, "a")) {
          most = std::max(most.load(), ++holders);
          ++taken;
          --holders;
        }
    });
  threads.clear();
  EXPECT_EQ(most, 1);
  EXPECT_GT(taken, 200);
}

}  // namespace
}  // namespace tessera
