// What it costs to tell the events of a run of 10,000 small tasks: on one thread, with nobody who
// listens, and with an observer. Nearly all of it are two looks at the clock a task. Processor time
// is measured, in turns, and the least of many runs is compared: the rest is noise of the machine.
// `bench_events once none|observer` makes one run, for valgrind --tool=callgrind, which counts
// instructions.

#include <time.h>

#include <cstring>

#include "tessera/tessera.h"
#include "timing.h"

namespace tessera::bench {
namespace {

struct Counter : RunObserver {
  void see(const ObservedRun&, std::span<const RunEvent> events) override {
    for (const RunEvent& event : events) bytes += event.bytes;
  }
  std::int64_t bytes = 0;
};

struct Case {
  const char* name;
  Plan plan;
  double bar = 0;  // 0: it is told, and not bounded
};

RunOptions on_one_thread(bool heard) {
  RunOptions options;
  options.threads = 1;
  if (heard) options.observer = std::make_shared<Counter>();
  return options;
}

double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double cost_of(const std::function<void()>& body) {
  const double begin = processor_seconds();
  body();
  return processor_seconds() - begin;
}

/// The least of many runs each, in turns.
Comparison measured(const Plan& plan) {
  Comparison least{1e9, 1e9};
  for (int i = 0; i < 60; ++i) {
    for (const bool heard : {i % 2 == 0, i % 2 != 0}) {
      const RunOptions options = on_one_thread(heard);
      double& own = heard ? least.ours : least.peer;
      own = std::min(own, cost_of([&] { (void)plan.run(options); }));
    }
  }
  return least;
}

}  // namespace
}  // namespace tessera::bench

int main(int argc, char** argv) {
  using namespace tessera;
  const auto matrix = [](std::int64_t tiles, std::int64_t tile) {
    return Plan::input(Relation::from_tensor(
        random_uniform(DType::f64, {tiles * tile, tiles * tile}, 1), {tile, tile}));
  };
  const Plan large = matrix(22, 64), less = matrix(22, 32);
  const bench::Case cases[] = {
      {"10,648 products of 64 x 64", large.join(large, {1}, {0}, "matmul").aggregate({0, 2}, "add"),
       1.01},
      {"10,648 products of 32 x 32", less.join(less, {1}, {0}, "matmul").aggregate({0, 2}, "add")},
      {"10,000 tiles of 16 x 16 negated", matrix(100, 16).transform("neg")}};
  if (argc > 2 && std::strcmp(argv[1], "once") == 0) {
    (void)cases[0].plan.run(bench::on_one_thread(std::strcmp(argv[2], "observer") == 0));
    return 0;
  }
  bool missed = false;
  for (const bench::Case& one : cases) {
    const bench::Comparison seconds = bench::measured(one.plan);
    const double ratio = seconds.ours / seconds.peer;
    if (one.bar > 0) {
      bench::report("events: " + std::string(one.name), "nobody listens", seconds, ratio,
                    fmt::format("<= {}", one.bar));
      missed = missed || ratio > one.bar;
    } else {
      fmt::print("# {}: {:.3f} of the time when nobody listens\n", one.name, ratio);
    }
  }
  return missed ? 1 : 0;
}
