// What the processes of a cluster, which here are threads, say to each other between runs.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <thread>

#include "exec/cluster.h"
#include "exec/cluster_engine.h"
#include "exec/task_graph.h"
#include "support/database_folder.h"
#include "tessera/cluster.h"
#include "tessera/session.h"

namespace tessera::exec {
namespace {

/// A wire between threads: a postman for each process, who brings letters in the order they came.
class ThreadWire final : public Wire {
 public:
  explicit ThreadWire(int rank, std::vector<ThreadWire*>& all) : rank_(rank), all_(all) {}
  ~ThreadWire() override {
    for (ThreadWire* other : all_)
      if (other != this) send(other->rank_, {}, {}, nullptr);
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return closed_ + 1 == all_.size() && letters_.empty(); });
      over_ = true;
    }
    changed_.notify_all();
    postman_.join();
  }
  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(all_.size()); }
  int local_size() const override { return size(); }
  void start(Handler& handler) override {
    handler_ = &handler;
    postman_ = std::thread([this] { work(); });
  }
  void send(int to, Header header, std::vector<std::span<const std::byte>> pieces,
            std::function<void()> sent) override {
    std::vector<std::vector<std::byte>> copies;
    for (const auto& piece : pieces) copies.emplace_back(piece.begin(), piece.end());
    all_[static_cast<std::size_t>(to)]->post(
        [from = rank_, header = std::move(header), copies = std::move(copies)](ThreadWire& wire) {
          wire.receive(from, header, copies);
        });
    if (sent) sent();
  }
  std::string name(int rank) const override { return fmt::format("rank {} (of host b)", rank); }
  double silence(int rank) const override { return rank == silent ? 100 : 0; }
  /// As if a process had been silent, and time had passed.
  void fall_silent(int rank) {
    post([rank](ThreadWire& wire) {
      wire.silent = rank;
      wire.handler_->second_passed();
    });
  }
  int silent = -1;
  void cut() {
    post([](ThreadWire& wire) { wire.handler_->broken("somebody fell over the cable"); });
  }

 private:
  using Letter = std::function<void(ThreadWire&)>;
  void post(Letter letter) {
    const std::lock_guard lock(mutex_);
    letters_.push_back(std::move(letter));
    changed_.notify_all();  // with the lock: once it is read, this may be gone
  }
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return over_ || !letters_.empty(); });
      if (letters_.empty()) return;
      const Letter letter = letters_.front();
      lock.unlock();
      letter(*this);
      lock.lock();
      letters_.pop_front();
      changed_.notify_all();
    }
  }
  void receive(int from, const Header& header, const std::vector<std::vector<std::byte>>& pieces) {
    if (header.empty()) {
      {
        const std::lock_guard lock(mutex_);
        ++closed_;
      }
      handler_->ended(from, {});
      return;
    }
    std::vector<std::int64_t> sizes;
    for (const auto& piece : pieces) sizes.push_back(static_cast<std::int64_t>(piece.size()));
    const std::vector<Memory> memory = handler_->begun(from, header, sizes);
    for (std::size_t i = 0; i < memory.size(); ++i)
      std::memcpy(memory[i].data(), pieces[i].data(), pieces[i].size());
    handler_->ended(from, header);
  }

  const int rank_;
  std::vector<ThreadWire*>& all_;
  Handler* handler_ = nullptr;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Letter> letters_;
  std::size_t closed_ = 0;
  bool over_ = false;
  std::thread postman_;
};

/// Each process does its work; what it threw, by rank, or nothing.
std::vector<std::string> together(int size,
                                  const std::function<void(Cluster&, ThreadWire&)>& work) {
  std::vector<ThreadWire*> wires;
  std::vector<std::unique_ptr<ThreadWire>> owned;
  for (int rank = 0; rank < size; ++rank) {
    owned.push_back(std::make_unique<ThreadWire>(rank, wires));
    wires.push_back(owned.back().get());
  }
  std::vector<std::unique_ptr<Cluster>> clusters;
  for (int rank = 0; rank < size; ++rank)
    clusters.push_back(std::make_unique<Cluster>(std::move(owned[static_cast<std::size_t>(rank)])));
  std::vector<std::string> errors(static_cast<std::size_t>(size));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      auto& cluster = clusters[static_cast<std::size_t>(rank)];
      try {
        work(*cluster, *wires[static_cast<std::size_t>(rank)]);
      } catch (const Error& error) {
        errors[static_cast<std::size_t>(rank)] = std::string(error.kind()) + ": " + error.what();
      }
      cluster.reset();
    });
  for (std::thread& thread : threads) thread.join();
  return errors;
}

const std::string same =
    "do not do the same: all processes must execute the same plans and statements in the same "
    "order";

TEST(Rounds, WhatIsSaidReachesThoseItIsFor) {
  const auto errors = together(4, [](Cluster& cluster, ThreadWire&) {
    for (int round = 0; round < 50; ++round) {
      const std::string mine = fmt::format("{} in {}", cluster.rank(), round);
      const std::vector<std::string> all = cluster.to_first(mine);
      if (cluster.rank() == 0) {
        ASSERT_EQ(all.size(), 4);
        for (int from = 0; from < 4; ++from)
          EXPECT_EQ(all[static_cast<std::size_t>(from)], fmt::format("{} in {}", from, round));
      } else {
        EXPECT_TRUE(all.empty());
      }
      const std::string answer(static_cast<std::size_t>(round), 'x');  // the first one is empty
      EXPECT_EQ(cluster.from_first(cluster.rank() == 0 ? answer : "not this"), answer);
    }
  });
  for (const std::string& error : errors) EXPECT_EQ(error, "");
}

TEST(Rounds, WhoHasEndedIsNotWaitedFor) {
  const auto errors = together(3, [](Cluster& cluster, ThreadWire&) {
    if (cluster.rank() == 1) return;
    (void)cluster.to_first("here");
    (void)cluster.from_first("there");
  });
  EXPECT_EQ(errors[0], "ClusterError: rank 1 ended while rank 0 was waiting for it");
  EXPECT_EQ(errors[1], "");
  EXPECT_EQ(errors[2], "ClusterError: rank 0 ended while rank 2 was waiting for it");
}

TEST(Rounds, AWireThatBreaksEndsTheWaiting) {
  const auto errors = together(2, [](Cluster& cluster, ThreadWire& wire) {
    if (cluster.rank() == 0) return wire.cut();
    (void)cluster.from_first("");
  });
  EXPECT_EQ(errors[0], "");
  // One breaks for itself: the other sees that it has ended.
  EXPECT_EQ(errors[1], "ClusterError: rank 0 ended while rank 1 was waiting for it");
  const auto own = together(2, [](Cluster& cluster, ThreadWire& wire) {
    if (cluster.rank() == 1) {
      wire.cut();
      (void)cluster.from_first("");
    } else {
      (void)cluster.to_first("");
    }
  });
  EXPECT_EQ(own[1], "IoError: lost the connection to the cluster: somebody fell over the cable");
}

/// A receiver that hears how a run ends.
struct Ending : Receiver {
  std::mutex mutex;
  std::condition_variable changed;
  std::string said;
  void end(const std::string& how) {
    const std::lock_guard lock(mutex);
    said = how;
    changed.notify_all();
  }
  void arrived(ValueId, std::vector<Tile>) override {}
  void agreed() override { end("agreed"); }
  void failed_elsewhere(const std::string& message) override { end("elsewhere: " + message); }
  void failed(const std::string& message) override { end(message); }
  std::string wait() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return !said.empty(); });
    return said;
  }
};

TEST(Rounds, WhoRunsAPlanInsteadIsTold) {
  const TaskGraph nothing{};
  for (const int runner : {0, 1}) {
    std::string run_ended;
    const auto errors = together(2, [&](Cluster& cluster, ThreadWire&) {
      if (cluster.rank() == runner) {
        Ending ending;
        const auto run = cluster.open_run(nothing);
        run->start(ending);
        if (runner == 0) run_ended = ending.wait();
        run->finish();
      } else if (runner == 1) {
        (void)cluster.to_first("a statement");
      } else {
        (void)cluster.to_first("a statement");
        (void)cluster.from_first("");
      }
    });
    if (runner == 0) {
      EXPECT_EQ(run_ended, "ranks 0 and 1 " + same);
      EXPECT_EQ(errors[1], "ClusterError: rank 0 ended while rank 1 was waiting for it");
    } else {
      EXPECT_EQ(errors[0], "IoError: ranks 0 and 1 " + same);
    }
  }
}

TEST(Rounds, WhoGivesNoSignOfLifeIsNotWaitedFor) {
  const auto errors = together(2, [&](Cluster& cluster, ThreadWire& wire) {
    cluster.set_timeout(99);
    if (cluster.rank() == 1) wire.fall_silent(0);
    if (cluster.rank() == 1) (void)cluster.from_first("");
  });
  EXPECT_EQ(errors[0], "");
  EXPECT_TRUE(errors[1].starts_with("ClusterError: rank 0 (of host b) has not responded for "
                                    "100 s") ||
              errors[1].starts_with("ClusterError: rank 0 ended"))
      << errors[1];
}

TEST(Rounds, ARunWaitsForNobodyWhoIsLost) {
  std::string ended;
  std::mutex mutex;
  std::condition_variable changed;
  bool over = false;
  (void)together(2, [&](Cluster& cluster, ThreadWire& wire) {
    const TaskGraph nothing{};
    if (cluster.rank() == 1) {  // which does not say good-bye meanwhile
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return over; });
      return;
    }
    Ending ending;
    const auto run = cluster.open_run(nothing);
    run->start(ending);
    cluster.set_timeout(101);
    wire.fall_silent(1);  // but not for long enough
    (void)cluster.timeout();
    cluster.set_timeout(99);
    wire.fall_silent(1);
    ended = ending.wait();
    run->finish();
    const std::lock_guard lock(mutex);
    over = true;
    changed.notify_all();
  });
  EXPECT_TRUE(ended.starts_with("elsewhere: rank 1 (of host b) has not responded")) << ended;
}

/// A plan over a relation, as one process has it.
TaskGraph graph_of(double value) {
  const Plan input = Plan::input(Relation::of({{{0}, {Tile::full(DType::f64, {3}, 1)}},
                                               {{1}, {Tile::full(DType::f64, {3}, value)}}}),
                                 "R");
  return expand(ia::Plan::input(input, Placement({}, 1)));
}

TEST(Rounds, InputsAreCompared) {
  for (const int culprit : {-1, 0, 1, 2}) {
    std::vector<std::string> said(3);
    const auto errors = together(3, [&](Cluster& cluster, ThreadWire&) {
      const TaskGraph graph = graph_of(cluster.rank() == culprit ? 2.5 : 2);
      Ending ending;
      const auto run = cluster.open_run(graph);
      EXPECT_TRUE(run->waits_for_agreement());
      run->start(ending);
      said[static_cast<std::size_t>(cluster.rank())] = ending.wait();
      run->finish();
    });
    const std::string others = culprit == 0 ? "1 and 2" : culprit == 1 ? "0 and 2" : "0 and 1";
    for (const std::string& one : said)
      EXPECT_EQ(one, culprit < 0
                         ? "agreed"
                         : fmt::format("elsewhere: rank {} gives other values for the input "
                                       "\"R\" than ranks {}: all processes must give the same "
                                       "values",
                                       culprit, others));
  }
}

TEST(Rounds, WhoEndsBeforeAPlanIsMissed) {
  const TaskGraph nothing{};
  std::vector<std::string> said(3);
  (void)together(3, [&](Cluster& cluster, ThreadWire&) {
    if (cluster.rank() == 1) return;
    Ending ending;
    const auto run = cluster.open_run(nothing);
    run->start(ending);
    said[static_cast<std::size_t>(cluster.rank())] = ending.wait();
    run->finish();
  });
  EXPECT_EQ(said[0], "elsewhere: rank 1 ended before a plan that the other processes run");
  EXPECT_EQ(said[2], said[0]);
}

TEST(Rounds, ARunThatFailsBeforeItIsOpenedIsTold) {
  const TaskGraph nothing{};
  std::string told;
  const auto errors = together(2, [&](Cluster& cluster, ThreadWire&) {
    if (cluster.rank() == 1) {
      cluster.fail_next_run("no memory");
    } else {
      Ending ending;
      const auto run = cluster.open_run(nothing);
      run->start(ending);
      told = ending.wait();
      run->finish();
    }
    (void)cluster.to_first("both have counted it");
    EXPECT_EQ(cluster.from_first(cluster.rank() == 0 ? "well" : ""), "well");
  });
  EXPECT_EQ(told, "elsewhere: rank 1: no memory");
  for (const std::string& error : errors) EXPECT_EQ(error, "");
}

/// Databases, and files, in a folder.
class RoundsOfSessions : public DatabaseFolder {
 protected:
  RoundsOfSessions() { std::filesystem::create_directory(folder_); }
  Database open(const std::string& name) const { return Database::open(folder_ / name); }
};

std::string lines_of(const ResultTable& table) {
  std::string text;
  for (std::int64_t row = 0; row < table.rows(); ++row)
    for (int column = 0; std::cmp_less(column, table.columns().size()); ++column)
      text += table.text(row, column) + "\n";
  return text;
}

// The program belongs to no cluster: who makes statements together is all in the options.
TEST_F(RoundsOfSessions, EveryStatementGoesThroughTheEngineThatOptionsName) {
  (void)open("db");
  constexpr int size = 3;
  std::vector<std::string> said(size), explained(size);
  const auto errors = together(size, [&](Cluster& cluster, ThreadWire&) {
    const auto rank = static_cast<std::size_t>(cluster.rank());
    SessionOptions options;
    options.run.engine = std::make_shared<ClusterEngine>(cluster);
    options.run.threads = 1;
    options.run.optimize = rank == 0;  // the first one plans, and nobody sees what others would do
    EXPECT_EQ(cluster_info(options.run).rank, cluster.rank());
    EXPECT_EQ(cluster_info(options.run).size, size);
    set_cluster_timeout(100, options.run);
    EXPECT_EQ(cluster.timeout(), 100);
    Session session(open("db"), options);
    const auto query = [&](const std::string& text) { return lines_of(session.query(text)); };
    const std::string file = (folder_ / "rows.csv").string();
    session.execute(
        "CREATE TENSOR A TILE [2][2] AS [[1, 2, 3], [4, 5, 6], [7, 8, 9]]; CREATE TENSOR B AS A @ "
        "A;"
        "CREATE TABLE t (x INT, m MATRIX[2][2]);"
        "INSERT INTO t VALUES (1, [[1, 2], [3, 4]]), (2, [[1, 2], [3, 4]]);"
        "CREATE TABLE v[0] AS SELECT x, m FROM t;"
        "CREATE TABLE v[i:1...] AS SELECT x, m + m AS m FROM v[i-1]; MATERIALIZE v[2];"
        "COPY (SELECT x, m FROM v[1]) TO '" +
        file + "'; COPY t FROM '" + file + "'; SET frame_size = 2");
    said[rank] = query("SELECT * FROM B") + query("SELECT SUM(matmul(a.m, b.m)) FROM t a, t b") +
                 query("SELECT SUM(m) FROM v[9]") + query("SHOW SETTINGS");
    session.execute("RESET frame_size; CHECKPOINT; VACUUM");
    for (const char* how :
         {"", "(VERBOSE) ", "(FORMAT JSON) ", "ANALYZE ", "(ANALYZE, FORMAT JSON) "})
      explained[rank] += query(std::string("EXPLAIN ") + how + "CREATE TENSOR C AS A @ A @ B");
    for (const char* wrong :
         {"EXPLAIN SELECT\n nope FROM t", "EXPLAIN CREATE TABLE t AS SELECT 1"}) {
      try {
        session.execute(wrong);
        ADD_FAILURE() << wrong;
      } catch (const StatementError& error) {
        explained[rank] +=
            fmt::format("{} {}:{} {}\n", error.kind(), error.line, error.column, error.what());
      }
    }
  });
  for (const std::string& error : errors) EXPECT_EQ(error, "");
  // But for the setting itself.
  const auto with = [](std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    return at == std::string::npos ? text : text.replace(at, from.size(), to);
  };
  for (std::size_t rank = 1; rank < size; ++rank) {
    EXPECT_EQ(with(said[rank], "optimizer\noff", "optimizer\non"), said[0]);
    EXPECT_EQ(explained[rank], explained[0]);
  }
  EXPECT_NE(said[0].find("sites\n3\n"), std::string::npos) << said[0];
  EXPECT_NE(said[0].find("cluster_timeout\n100\n"), std::string::npos) << said[0];
  EXPECT_NE(explained[0].find("TypeError 2:2 column \"nope\" not found"), std::string::npos)
      << explained[0];
  EXPECT_TRUE(open("db").check().empty());
}

TEST_F(RoundsOfSessions, EveryProcessCanHaveADatabaseOfItsOwn) {
  (void)open("db");
  const auto errors = together(3, [&](Cluster& cluster, ThreadWire&) {
    SessionOptions options, alone;
    options.run.engine = std::make_shared<ClusterEngine>(cluster);
    alone.run.engine = local_engine();
    options.run.threads = alone.run.threads = 1;
    Session own(open(std::to_string(cluster.rank())), alone);
    for (int i = 0; i <= cluster.rank(); ++i)  // not so many in any two of them
      own.execute(fmt::format("CREATE TENSOR A{} AS [[1, 2], [3, 4]] + {}", i, cluster.rank()));
    Session session(open("db"), options);
    session.execute("CREATE TENSOR A AS [[1, 2], [3, 4]]; CREATE TENSOR B AS A @ A");
    EXPECT_EQ(lines_of(own.query(fmt::format("SELECT tile FROM A{}", cluster.rank()))),
              lines_of(own.query(fmt::format("SELECT [[1, 2], [3, 4]] + {}", cluster.rank()))));
  });
  for (const std::string& error : errors) EXPECT_EQ(error, "");
  EXPECT_EQ(names_in(open("db")), "A B");
}

}  // namespace
}  // namespace tessera::exec
