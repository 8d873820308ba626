// Traces: files for Perfetto and chrome://tracing, made of the events of runs.

#include "tessera/trace.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "support/database_folder.h"
#include "support/expectations.h"
#include "support/tight_memory.h"

namespace tessera {
namespace {

class TraceTest : public DatabaseFolder {
 protected:
  TraceTest() {
    std::filesystem::create_directories(folder_);
    path = folder_ / "run.json";
  }
  std::string path;
};

nlohmann::json trace_in(const std::string& path) {
  std::ifstream file(path);
  return nlohmann::json::parse(file).at("traceEvents");
}

/// The events of a category: how many, and what an argument of theirs adds up to.
struct Counted {
  std::int64_t count = 0;
  double sum = 0;
};
Counted counted_in(const nlohmann::json& events, const std::string& category,
                   const std::string& argument) {
  Counted all;
  for (const nlohmann::json& event : events) {
    if (event.value("cat", "") != category) continue;
    ++all.count;
    all.sum += event.at("args").at(argument).get<double>();
  }
  return all;
}

/// What the format demands: each event is complete, and its tracks have names.
void expect_valid(const nlohmann::json& events) {
  std::set<std::pair<std::string, std::string>> named;
  for (const nlohmann::json& event : events) {
    const std::string phase = event.at("ph");
    EXPECT_TRUE(event.at("pid").is_number_integer());
    EXPECT_TRUE(event.at("name").is_string());
    if (phase == "M") {
      if (event["name"] == "process_name") named.insert({event["pid"].dump(), ""});
      if (event["name"] == "thread_name") named.insert({event["pid"].dump(), event["tid"].dump()});
    } else if (phase == "C") {
      EXPECT_GE(event.at("args").at("bytes").get<std::int64_t>(), 0);
    } else {
      ASSERT_EQ(phase, "X");
      EXPECT_GE(event.at("ts").get<double>(), 0);
      EXPECT_GE(event.at("dur").get<double>(), 0);
      EXPECT_TRUE(named.contains({event["pid"].dump(), ""})) << event;
      EXPECT_TRUE(named.contains({event["pid"].dump(), event.at("tid").dump()})) << event;
    }
  }
}

TEST_F(TraceTest, HasEveryTaskAndTransferOfTheReport) {
  RunOptions options;
  options.sites = 4;
  options.threads = 2;
  options.observer = std::make_shared<Trace>(path);
  const Plan a = Plan::input(
      Relation::from_tensor(random_integers(DType::f64, {60, 60}, 1, -9, 10), {10, 10}), "A");
  double tasks = 0, flops = 0, floats = 0;
  for (int runs = 0; runs < 2; ++runs) {
    RunReport report;
    (void)run(product(a, a), options, &report);
    tasks += static_cast<double>(report.tasks);
    flops += report.flops;
    floats += report.floats_moved;
    // It is valid while more may come.
    const nlohmann::json events = trace_in(path);
    expect_valid(events);
    const Counted computed = counted_in(events, "task", "flops"),
                  moved = counted_in(events, "transfer", "elements");
    EXPECT_EQ(computed.count + moved.count, tasks);
    EXPECT_EQ(computed.sum, flops);
    EXPECT_GT(moved.sum, 0);
    EXPECT_EQ(moved.sum, floats);
    EXPECT_EQ(counted_in(events, "sent", "elements").sum, floats);
    EXPECT_EQ(counted_in(events, "received", "elements").sum, floats);
    std::set<int> sites;
    for (const nlohmann::json& event : events) sites.insert(event["pid"].get<int>());
    EXPECT_EQ(sites, (std::set<int>{0, 1, 2, 3}));
  }
}

TEST_F(TraceTest, HasEverySpillAndReadOfTheReport) {
  RunOptions options = within(12 * tile_bytes);
  options.observer = std::make_shared<Trace>(path);
  const Plan once = product(from_source(256, 32, 1), from_source(256, 32, 2));
  RunReport report;
  (void)run_into({product(once, once)}, nowhere, options, &report);
  const nlohmann::json events = trace_in(path);
  expect_valid(events);
  EXPECT_GT(report.bytes_spilled, 0);
  EXPECT_EQ(counted_in(events, "spilled", "bytes").sum, report.bytes_spilled);
  EXPECT_EQ(counted_in(events, "read", "bytes").sum, report.bytes_read);
  EXPECT_EQ(counted_in(events, "task", "bytes").count, report.tasks);
  EXPECT_EQ(counted_in(events, "written", "bytes").count, 64);
  double most = 0;
  for (const nlohmann::json& event : events)
    if (event["ph"] == "C") most = std::max(most, event["args"]["bytes"].get<double>());
  EXPECT_GT(most, 0);
  EXPECT_LE(most, report.peak_bytes);
}

TEST_F(TraceTest, OfARunThatFailsOrIsStoppedIsValid) {
  const auto trace = std::make_shared<Trace>(path);
  EXPECT_TRUE(trace_in(path).empty());
  RunOptions options;
  options.threads = 2;
  options.observer = trace;
  const Plan ones =
      Plan::input(Relation::of({{{0}, {Tile::full(DType::f64, {2, 2}, 1)}}}), "\"ones\"\n");
  EXPECT_ERROR(ValueError, ones.transform("inverse").run(options), "inverse");
  nlohmann::json events = trace_in(path);
  expect_valid(events);
  EXPECT_EQ(counted_in(events, "task", "bytes").count, 1);
  for (const nlohmann::json& event : events)
    if (event.value("cat", "") == "task") {
      EXPECT_EQ(event["args"].value("failed", false), true);
    }

  std::stop_source source;
  options.stop = source.get_token();
  options.progress_seconds = 0;
  options.progress = [&](const Progress& progress) {
    if (progress.tasks_done > 20) source.request_stop();
  };
  const Plan many =
      Plan::input(Relation::from_tensor(random_uniform(DType::f64, {400, 400}, 1), {10, 10}));
  EXPECT_ERROR(Interrupted, many.transform("neg").run(options), "was stopped");
  events = trace_in(path);
  expect_valid(events);
  EXPECT_GT(counted_in(events, "task", "bytes").count, 20);
  EXPECT_LT(counted_in(events, "task", "bytes").count, 1601);
}

TEST_F(TraceTest, ThatCannotBeWrittenIsAnError) {
  EXPECT_ERROR(IoError, Trace((folder_ / "nowhere" / "run.json").string()), "run.json");
  const Trace first(path);
  EXPECT_ERROR(IoError, Trace(path), "another process is writing to");
}

TEST_F(TraceTest, ThatOutgrowsTheDiskEndsTheRunAndStaysValid) {
  RunOptions options;
  options.observer = std::make_shared<Trace>(path);
  const Plan many =
      Plan::input(Relation::from_tensor(random_uniform(DType::f64, {400, 400}, 1), {10, 10}));
  (void)Plan::input(Relation::from_tensor(random_uniform(DType::f64, {4, 4}, 1), {2, 2}))
      .transform("neg")
      .run(options);
  // A file that may not grow any more stands for a disk that is full.
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit little = before;
  little.rlim_cur = 8192;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &little), 0);
  std::string told;
  try {
    (void)many.transform("neg").run(options);
  } catch (const IoError& error) {
    told = error.what();
  }
  EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_NE(told.find("run.json"), std::string::npos) << told;
  const nlohmann::json events = trace_in(path);
  expect_valid(events);
  EXPECT_GE(counted_in(events, "task", "bytes").count, 4);
}

TEST_F(TraceTest, MayBeSharedByRunsOfSeveralThreads) {
  RunOptions options;
  options.observer = std::make_shared<Trace>(path);
  const Plan a =
      Plan::input(Relation::from_tensor(random_uniform(DType::f64, {100, 100}, 1), {10, 10}));
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i)
      threads.emplace_back([&] { (void)a.transform("neg").run(options); });
  }
  const nlohmann::json events = trace_in(path);
  expect_valid(events);
  EXPECT_EQ(counted_in(events, "task", "bytes").count, 300);
}

}  // namespace
}  // namespace tessera
