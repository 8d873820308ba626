#include "database/workload.h"

#include <fmt/format.h>

#include <chrono>
#include <ctime>

#include "store/hidden_names.h"
#include "tessera/database.h"
#include "tra/plan_node.h"

namespace tessera {

/// Operators of a plan that is kept as a text: more than these nobody reads, and the history is not
/// to be larger than what it is about.
constexpr std::size_t most_shown = 200;

namespace {

/// The time in UTC, as in 2030-01-31 12:00:00.
std::string now() {
  const std::time_t time = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

}  // namespace

void remember(store::Catalog& catalog, const std::vector<std::pair<std::string, Plan>>& results,
              const RunReport& report) {
  for (const OperatorReport& own : report.operators)
    if (!own.kernel.empty() && own.tasks > 0)
      catalog.record(KernelRate{own.kernel, own.tasks, own.flops, own.bytes, own.seconds});
  std::string names, plans;
  std::vector<Plan> all;
  for (const auto& [name, plan] : results) {
    names += (names.empty() ? "" : ", ") + store::shown_name(name);
    all.push_back(plan);
  }
  const std::size_t operators = in_order(all).size();
  if (operators > most_shown) {
    plans = fmt::format("{} operators", operators);
  } else {
    for (const Plan& plan : all) plans += (plans.empty() ? "" : "\n") + plan.explain();
  }
  catalog.record(PastRun{now(), names, plans, report.seconds, report.tasks, report.flops,
                         report.peak_bytes, report.bytes_read, report.bytes_spilled});
}

}  // namespace tessera
