// The one stream of events that a run tells: what reports, progress and traces are made of.

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <set>

#include "exec/event_stream.h"
#include "support/expectations.h"
#include "support/tight_memory.h"

namespace tessera {
namespace {

using EventKind = RunEvent::Kind;

/// Keeps all that it is told.
class EventRecorder : public RunObserver {
 public:
  void run_begins(const ObservedRun& run) override {
    ++begun;
    begin = run.begin();
  }
  void see(const ObservedRun& run, std::span<const RunEvent> told) override {
    EXPECT_EQ(++inside_, 1);
    for (const RunEvent& event : told) {
      events.push_back(event);
      if (event.op >= 0) operators[event.op] = run.operator_text(event.op);
    }
    --inside_;
  }
  void run_ends(const ObservedRun&, const RunEnd& end) override { ends.push_back(end); }

  std::int64_t count(EventKind kind) const {
    return std::count_if(events.begin(), events.end(),
                         [&](const RunEvent& event) { return event.kind == kind; });
  }
  std::int64_t bytes(EventKind kind) const {
    std::int64_t sum = 0;
    for (const RunEvent& event : events)
      if (event.kind == kind) sum += event.bytes;
    return sum;
  }

  int begun = 0;
  std::int64_t begin = 0;
  std::vector<RunEvent> events;
  std::map<int, std::string> operators;
  std::vector<RunEnd> ends;

 private:
  std::atomic<int> inside_ = 0;
};

Plan small_numbers(std::int64_t extent, std::int64_t tile, std::uint64_t seed) {
  return Plan::input(Relation::from_tensor(
                         random_integers(DType::f64, {extent, extent}, seed, -9, 10), {tile, tile}),
                     "A");
}

TEST(Events, TellEveryTaskAndEveryMoveOfARun) {
  const Plan plan = product(small_numbers(60, 10, 1), small_numbers(60, 10, 2));
  for (const int threads : {1, 3}) {
    const auto recorder = std::make_shared<EventRecorder>();
    RunOptions options;
    options.sites = 4;
    options.threads = threads;
    options.observer = recorder;
    RunReport report;
    (void)run(plan, options, &report);
    EXPECT_EQ(recorder->begun, 1);
    ASSERT_EQ(recorder->ends.size(), 1U);
    EXPECT_FALSE(recorder->ends[0].failed);
    EXPECT_EQ(recorder->ends[0].peak, report.peak_bytes);
    EXPECT_EQ(recorder->count(EventKind::task), report.tasks);
    EXPECT_GT(recorder->count(EventKind::sent), 0);
    EXPECT_EQ(recorder->count(EventKind::sent), recorder->count(EventKind::received));
    double flops = 0, floats = 0;
    std::set<int> sites;
    std::map<int, std::int64_t> last;  // by thread
    for (const RunEvent& event : recorder->events) {
      flops += event.flops;
      EXPECT_GE(event.begin, recorder->begin);
      EXPECT_GE(event.end, event.begin);
      EXPECT_LE(event.end, recorder->ends[0].end);
      EXPECT_GE(event.end, last[event.thread]);
      last[event.thread] = event.end;
      sites.insert(event.site);
      if (event.kind == EventKind::sent || event.kind == EventKind::received) {
        EXPECT_NE(event.site, event.other_site);
      }
      if (event.kind == EventKind::sent) floats += static_cast<double>(event.elements);
    }
    EXPECT_EQ(flops, report.flops);
    EXPECT_EQ(floats, report.floats_moved);
    EXPECT_EQ(sites, (std::set<int>{0, 1, 2, 3}));
    EXPECT_EQ(recorder->count(EventKind::written), 0);
    EXPECT_EQ(std::count_if(recorder->events.begin(), recorder->events.end(),
                            [](const RunEvent& event) {
                              return event.is_result && event.kind == EventKind::task;
                            }),
              36);
    for (const auto& [op, text] : recorder->operators)
      EXPECT_EQ(text, report.operators[static_cast<std::size_t>(op)].description);
  }
}

TEST(Events, TellWhatIsReadAndSpilledAndStored) {
  const Plan plan = product(from_source(240, 40, 1), from_source(240, 40, 2)).transform("neg");
  const auto recorder = std::make_shared<EventRecorder>();
  RunOptions options = within(400'000);
  options.observer = recorder;
  RunReport report;
  std::atomic<int> stored = 0;
  (void)run_into(
      {product(plan, plan)}, [&](std::size_t, const Key&, const std::vector<Tile>&) { ++stored; },
      options, &report);
  EXPECT_GT(report.bytes_spilled, 0);
  EXPECT_EQ(recorder->bytes(EventKind::spilled), report.bytes_spilled);
  EXPECT_EQ(recorder->bytes(EventKind::read), report.bytes_read);
  EXPECT_EQ(recorder->count(EventKind::written), stored);
  EXPECT_EQ(stored, 36);
  for (const RunEvent& event : recorder->events) EXPECT_LE(event.held, report.peak_bytes);
}

TEST(Events, OfARunThatFailsTellTheTaskThatFailed) {
  const auto recorder = std::make_shared<EventRecorder>();
  RunOptions options;
  options.threads = 1;
  options.observer = recorder;
  std::vector<Tuple> tuples;
  for (std::int64_t i = 0; i < 5; ++i)
    tuples.push_back(
        {{i},
         {i == 3 ? Tile::full(DType::f64, {2, 2}, 1) : random_uniform(DType::f64, {2, 2}, 1)}});
  EXPECT_ERROR(ValueError, Plan::input(Relation::of(tuples)).transform("inverse").run(options),
               "(at key <3> of Transform with inverse)");
  ASSERT_EQ(recorder->ends.size(), 1U);
  EXPECT_TRUE(recorder->ends[0].failed);
  ASSERT_EQ(recorder->events.size(), 4U);
  EXPECT_FALSE(recorder->events[2].failed);
  EXPECT_TRUE(recorder->events[3].failed);
}

TEST(Events, AnObserverThatThrowsEndsTheRun) {
  struct Fails : EventRecorder {
    void see(const ObservedRun& run, std::span<const RunEvent> told) override {
      EventRecorder::see(run, told);
      throw IoError("the disk is full");
    }
  };
  for (const int threads : {1, 3}) {
    const auto observer = std::make_shared<Fails>();
    RunOptions options;
    options.threads = threads;
    options.observer = observer;
    EXPECT_ERROR(IoError, small_numbers(400, 4, 1).transform("neg").run(options),
                 "the disk is full");
    EXPECT_LT(observer->events.size(), 10000U);
    ASSERT_EQ(observer->ends.size(), 1U);
    EXPECT_TRUE(observer->ends[0].failed);
  }
}

TEST(Events, OfARunInsideOfARunAreToldApart) {
  const auto recorder = std::make_shared<EventRecorder>();
  RunOptions inner;
  inner.threads = 1;
  inner.observer = recorder;
  const Plan small = small_numbers(4, 2, 1).transform("neg");
  const Plan outer = Plan::input(RelationType{{{"", {DType::f64, {2, 2}}}}, {3}}, [&](const Key&) {
                       return run(small, inner).tuples().front().tiles;
                     }).transform("neg");
  const auto of_outer = std::make_shared<EventRecorder>();
  RunOptions options;
  options.threads = 1;
  options.observer = of_outer;
  EXPECT_EQ(outer.run(options).size(), 3);
  EXPECT_EQ(of_outer->count(EventKind::task), 3);
  EXPECT_EQ(of_outer->count(EventKind::read), 3);
  EXPECT_GE(recorder->count(EventKind::task), 12);
  EXPECT_EQ(recorder->count(EventKind::read), 0);
}

}  // namespace
}  // namespace tessera
