// Engines whose sites lie on a device with memory and threads of its own, which here is a pretence:
// what a plug-in for one has to do, and may rely on.

#include "exec/accelerator.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "exec/context.h"
#include "exec/local_engine.h"
#include "exec/report_maker.h"
#include "support/expectations.h"
#include "support/tight_memory.h"

namespace tessera::exec {
namespace {

/// In memory of the device each number is larger by this: who looks at it on the host, or has a
/// kernel of the host compute with it, is wrong.
constexpr std::int64_t displacement = 1000;

Tile displaced(const Tile& tile, std::int64_t by) {
  return KernelCall("add_scalar", {{"value", by}})({tile});
}

/// A device that does one thing after the other in a thread of its own, and says later that a task
/// is complete, when it has done another one or has nothing else to do.
class PretendedDevice final : public Accelerator {
 public:
  PretendedDevice() : thread_([this](const std::stop_token& stop) { work(stop); }) {}

  Device device() const override { return Device::cuda; }
  Tile to_device(const Tile& tile) override {
    ++moves;
    return displaced(tile, displacement);
  }
  Tile to_host(const Tile& tile) override {
    ++moves;
    return displaced(tile, -displacement);
  }
  void run(std::function<void()> launch, Done done) override {
    const std::lock_guard lock(mutex_);
    tasks_.push_back([launch = std::move(launch), done = std::move(done)] {
      std::exception_ptr error;
      try {
        launch();
      } catch (...) {
        error = std::current_exception();
      }
      return [done, error] { done(error); };
    });
    changed_.notify_one();
  }

  std::atomic<int> moves = 0, most_at_once = 0;

 private:
  using Completion = std::function<void()>;

  void work(const std::stop_token& stop) {
    std::deque<Completion> complete;
    std::unique_lock lock(mutex_);
    for (;;) {
      if (tasks_.empty() && !complete.empty()) {
        most_at_once = std::max<int>(most_at_once, static_cast<int>(complete.size()));
        lock.unlock();
        // Not in the order in which they were begun.
        complete.back()();
        complete.pop_back();
        lock.lock();
        continue;
      }
      if (!changed_.wait(lock, stop, [this] { return !tasks_.empty(); })) return;
      const auto task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      complete.push_back(task());
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::function<Completion()>> tasks_;
  std::jthread thread_;
};

std::atomic<int> calls_on_host = 0, calls_on_device = 0;

/// A kernel with an implementation for each device.
Kernel on_both(const std::string& name, const std::string& kernel, int arguments) {
  const auto compute = [kernel](Tiles tiles, const Params&) {
    ++calls_on_host;
    return KernelCall(kernel).run(tiles);
  };
  const auto compute_there = [kernel](Tiles tiles, const Params&) {
    ++calls_on_device;
    std::vector<Tile> seen;
    for (const Tile& tile : tiles) seen.push_back(displaced(tile, -displacement));
    return std::vector<Tile>{displaced(KernelCall(kernel).run(seen).front(), displacement)};
  };
  return {.name = name,
          .min_arguments = arguments,
          .max_arguments = arguments,
          .properties = KernelCall(kernel).properties(),
          .infer = [kernel](Types types, const Params&) { return KernelCall(kernel).infer(types); },
          .implementations = {{.name = "host", .run = compute},
                              {.name = "device", .device = Device::cuda, .run = compute_there}}};
}

class OnAccelerators : public ::testing::Test {
 protected:
  OnAccelerators() {
    static const bool registered = [] {
      register_kernel(on_both("times_for_testing", "mul", 2));
      register_kernel(on_both("plus_for_testing", "add", 2));
      register_kernel(on_both("minus_for_testing", "neg", 1));
      return true;
    }();
    (void)registered;
    calls_on_host = calls_on_device = 0;
  }

  static Plan integers(std::uint64_t seed) {
    return Plan::input(
        Relation::from_tensor(random_integers(DType::i64, {24, 24}, seed, -9, 10), {4, 4}));
  }
  static Plan sums(const Plan& a, const Plan& b) {
    return a.join(b, {1}, {0}, "times_for_testing")
        .aggregate({0, 2}, "plus_for_testing")
        .transform("minus_for_testing");
  }

  /// On four sites, of which these are on the device.
  Relation run_with(const Plan& plan, std::vector<int> there, RunOptions options = {},
                    const TupleSink& sink = {}) {
    std::vector<std::shared_ptr<Accelerator>> by_site(4);
    for (const int site : there) by_site[site] = device;
    options.sites = 4;
    options.engine = std::make_shared<LocalEngine>(std::move(by_site));
    if (!sink) return tessera::run(plan, options, &report);
    (void)run_into({plan}, sink, options, &report);
    return plan.interpret();
  }

  std::shared_ptr<PretendedDevice> device = std::make_shared<PretendedDevice>();
  RunReport report;
};

TEST_F(OnAccelerators, TasksRunWhereTheirSiteIs) {
  const Plan plan = sums(integers(1), integers(2));
  const Relation expected = plan.interpret();
  for (const std::vector<int>& there : {std::vector<int>{}, {0}, {1, 3}, {0, 1, 2, 3}}) {
    calls_on_host = calls_on_device = 0;
    device->moves = 0;
    EXPECT_TRUE(relations_equal(run_with(plan, there), expected)) << there.size();
    EXPECT_EQ(calls_on_device > 0, !there.empty());
    EXPECT_EQ(calls_on_host > 0, there.size() < 4);
    EXPECT_EQ(device->moves > 0, !there.empty());
    EXPECT_GT(report.floats_moved, 0);
    double flops = 0;
    for (const OperatorReport& one : report.operators) flops += one.flops;
    EXPECT_EQ(flops, report.flops);
  }
  EXPECT_GT(device->most_at_once, 1);  // tasks were under way together
}

TEST_F(OnAccelerators, ValuesAreSpilledAndStoredFromThere) {
  const auto source = [](std::uint64_t seed) {
    return Plan::input(RelationType{{{"", {DType::i64, {32, 32}}}}, {8, 8}}, [=](const Key& key) {
      return std::vector<Tile>{random_integers(
          DType::i64, {32, 32}, seed + static_cast<std::uint64_t>(key[0] * 8 + key[1]), -3, 4)};
    });
  };
  const Plan once = sums(source(0), source(100)), plan = sums(once, once);
  std::map<Key, Tile> expected;
  const Relation by_definition = plan.interpret();
  for (const Tuple& tuple : by_definition.tuples()) expected[tuple.key] = tuple.tiles[0];
  std::mutex mutex;
  std::map<Key, Tile> found;
  (void)run_with(plan, {1, 2}, within(24 * tile_bytes),
                 [&](std::size_t, const Key& key, const std::vector<Tile>& tiles) {
                   const std::lock_guard lock(mutex);
                   found[key] = tiles[0];
                 });
  EXPECT_GT(report.bytes_spilled, 0);
  ASSERT_EQ(found.size(), expected.size());
  for (const auto& [key, tile] : expected)
    EXPECT_TRUE(tiles_equal(found.at(key), tile)) << to_string(key);
}

TEST_F(OnAccelerators, ErrorsThereEndTheRun) {
  const Plan plan = sums(integers(1), integers(2));
  EXPECT_ERROR(TypeError, run_with(plan.transform("abs"), {1, 3}),
               "abs has no implementation for this device");
  EXPECT_TRUE(relations_equal(run_with(plan, {1, 3}), plan.interpret()));
  std::stop_source source;
  RunOptions options;
  options.stop = source.get_token();
  source.request_stop();
  EXPECT_ERROR(Interrupted, run_with(plan, {1, 3}, options), "stopped");
}

}  // namespace
}  // namespace tessera::exec
