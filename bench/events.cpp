// What it costs to tell the events of a run: runs of 10,000 small tasks, on one thread, with nobody
// who listens, and with an observer. Processor time is measured, in turns, and the least of many
// runs is compared: the rest is noise of the machine. `bench_events once none|observer` makes one
// run, for valgrind --tool=callgrind, which counts instructions.

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

}  // namespace
}  // namespace tessera::bench

int main(int argc, char** argv) {
  using namespace tessera;
  const Plan plan =
      Plan::input(Relation::from_tensor(random_uniform(DType::f64, {1600, 1600}, 1), {16, 16}))
          .transform("neg");
  RunOptions quiet;
  quiet.threads = 1;
  RunOptions heard = quiet;
  heard.observer = std::make_shared<bench::Counter>();
  if (argc > 2 && std::strcmp(argv[1], "once") == 0) {
    (void)plan.run(std::strcmp(argv[2], "observer") == 0 ? heard : quiet);
    return 0;
  }
  double without = 1e9, with = 1e9;
  for (int i = 0; i < 200; ++i) {
    const auto run_quiet = [&] {
      without = std::min(without, bench::cost_of([&] { (void)plan.run(quiet); }));
    };
    const auto run_heard = [&] {
      with = std::min(with, bench::cost_of([&] { (void)plan.run(heard); }));
    };
    if (i % 2 == 0) {
      run_quiet();
      run_heard();
    } else {
      run_heard();
      run_quiet();
    }
  }
  bench::report("events of 10,000 tasks of 16 x 16", "nobody listens", {with, without},
                with / without, "<= 1.01");
  return with / without > 1.01 ? 1 : 0;
}
