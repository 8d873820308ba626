// The scheduler with its sites in several processes, which here are threads: what a transport that
// really sends has to do, and may rely on.

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <thread>

#include "exec/report_maker.h"
#include "exec/scheduler.h"
#include "support/expectations.h"

namespace tessera::exec {
namespace {

/// A process: a mailbox that a thread of its own empties, some time later and in any order.
class Process : public Transport {
 public:
  Process() = default;
  ~Process() override { finish(); }

  void start(Receiver& receiver) override {
    receiver_ = &receiver;
    postman_ = std::jthread([this](const std::stop_token& stop) { deliver(stop); });
  }
  void send(ValueId value, const std::vector<Tile>& tiles, int, int to,
            std::function<void()> sent) override {
    peer_at(to).post([value, tiles, sent](Receiver& receiver) {
      receiver.arrived(value, tiles);
      if (sent) sent();
    });
  }
  void fail(const std::string& message) override {
    for (Process* other : others)
      if (other != this)
        other->post([message](Receiver& receiver) { receiver.failed_elsewhere(message); });
  }
  void finish() override {
    if (postman_.joinable()) {
      postman_.request_stop();
      postman_.join();
    }
  }

  std::vector<Process*> others;  // by number, itself included
  std::vector<int> process_of;   // a site

 private:
  using Letter = std::function<void(Receiver&)>;

  Process& peer_at(int site) { return *others[process_of[site]]; }
  void post(Letter letter) {
    const std::lock_guard lock(mutex_);
    letters_.push_back(std::move(letter));
  }
  void deliver(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      Letter letter;
      {
        const std::lock_guard lock(mutex_);
        if (!letters_.empty()) {
          letter = std::move(letters_.back());
          letters_.pop_back();
        }
      }
      if (letter)
        letter(*receiver_);
      else
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

  Receiver* receiver_ = nullptr;
  std::mutex mutex_;
  std::deque<Letter> letters_;
  std::jthread postman_;
};

struct Outcome {
  std::map<Key, std::vector<Tile>> tuples;
  std::vector<std::string> errors;
  double moved = 0;
};

Outcome run_in_processes(const ia::Plan& plan, int processes,
                         const std::vector<std::stop_token>& stops = {}) {
  const TaskGraph graph = expand(plan);
  std::vector<std::unique_ptr<Process>> all;
  std::vector<Process*> pointers;
  std::vector<int> process_of(graph.sites);
  for (int site = 0; site < graph.sites; ++site) process_of[site] = site % processes;
  for (int p = 0; p < processes; ++p) {
    all.push_back(std::make_unique<Process>());
    pointers.push_back(all.back().get());
  }
  for (auto& process : all) {
    process->others = pointers;
    process->process_of = process_of;
  }
  Outcome outcome;
  std::mutex mutex;
  std::vector<std::thread> threads;
  threads.reserve(processes);
  for (int p = 0; p < processes; ++p)
    threads.emplace_back([&, p] {
      std::vector<bool> mine(graph.sites);
      for (int site = 0; site < graph.sites; ++site) mine[site] = process_of[site] == p;
      RunOptions options;
      options.threads = 2;
      if (!stops.empty()) options.stop = stops[p];
      ReportMaker report(graph);
      EventStream events(graph, {&report});
      Scheduler scheduler(graph, mine, options, *all[p], {}, nullptr, events);
      try {
        scheduler.run();
        const std::lock_guard lock(mutex);
        outcome.moved += report.report({}).floats_moved;
        for (const TaskGraph::Output& output : graph.outputs)
          if (mine[graph.values[output.value].site])
            outcome.tuples[graph.keys[output.key]] = scheduler.result(output.value);
      } catch (const Error& error) {
        const std::lock_guard lock(mutex);
        outcome.errors.push_back(std::string(error.kind()) + ": " + error.what());
      }
    });
  for (std::thread& thread : threads) thread.join();
  return outcome;
}

Plan integers(std::uint64_t seed) {
  return Plan::input(
      Relation::from_tensor(random_integers(DType::i64, {24, 24}, seed, -9, 10), {4, 4}), "A");
}

TEST(Transport, SitesInSeveralProcessesComputeTheSame) {
  const Plan a = integers(1), b = integers(2);
  const Plan plan = a.join(b, {1}, {0}, "matmul").aggregate({0, 2}, "add").transform("neg");
  const Relation expected = plan.interpret();
  for (int sites : {1, 3, 6})
    for (int processes : {1, 2, 3}) {
      const ia::Plan physical = ia::translate(plan, ia::round_robin(sites));
      RunReport report;
      (void)run(physical, {}, &report);
      const Outcome outcome = run_in_processes(physical, processes);
      EXPECT_TRUE(outcome.errors.empty());
      ASSERT_EQ(outcome.tuples.size(), expected.tuples().size());
      for (const Tuple& tuple : expected.tuples())
        EXPECT_TILE_EQ(outcome.tuples.at(tuple.key)[0], tuple.tiles[0]);
      EXPECT_EQ(outcome.moved, report.floats_moved);
    }
}

TEST(Transport, AFailureEndsTheOthersToo) {
  // One singular tile: its process fails, and the one that adds up would wait for it forever. The
  // third may have done its part before it hears of that.
  std::vector<Tuple> tuples;
  for (std::int64_t i = 0; i < 12; ++i) {
    MutableTile tile = MutableTile::zeros(DType::f64, {1, 1});
    tile.data<double>()[0] = i == 7 ? 0 : 2;
    tuples.push_back({{i}, {std::move(tile).publish()}});
  }
  const Plan plan = Plan::input(Relation::of(tuples)).transform("inverse").aggregate({}, "add");
  const Outcome outcome = run_in_processes(ia::translate(plan, ia::round_robin(3)), 3);
  ASSERT_GE(outcome.errors.size(), 2U);
  int told = 0;
  for (const std::string& error : outcome.errors) {
    EXPECT_NE(error.find("(at key <7> of Transform with inverse)"), std::string::npos) << error;
    told += error.starts_with("ClusterError: ") ? 1 : 0;
  }
  EXPECT_EQ(told, static_cast<int>(outcome.errors.size()) - 1);
}

TEST(Transport, AStopRequestIsSeenWhileWaiting) {
  std::stop_source source;
  source.request_stop();
  const Plan plan = integers(1).aggregate({}, "add");
  const Outcome outcome = run_in_processes(ia::translate(plan, ia::round_robin(2)), 2,
                                           {std::stop_token(), source.get_token()});
  EXPECT_EQ(outcome.errors.size(), 2U);
}

}  // namespace
}  // namespace tessera::exec
