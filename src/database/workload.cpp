#include "database/workload.h"

#include <fmt/format.h>

#include "tessera/database.h"
#include "tra/plan_node.h"

namespace tessera {

/// Operators of a plan that is kept as a text: more than these nobody reads, and the history is not
/// to be larger than what it is about.
constexpr std::size_t most_shown = 200;

void remember(store::Catalog& catalog, const std::vector<std::pair<std::string, Plan>>& results,
              const RunReport& report) {
  std::vector<KernelRate> kernels;
  for (const OperatorReport& own : report.operators)
    if (!own.kernel.empty() && own.tasks > 0)
      kernels.push_back({own.kernel, own.tasks, own.flops, own.bytes, own.seconds});
  std::string names, plans;
  std::vector<Plan> all;
  for (const auto& [name, plan] : results) {
    names += (names.empty() ? "" : ", ") + name;
    all.push_back(plan);
  }
  const std::size_t operators = in_order(all).size();
  if (operators > most_shown) {
    plans = fmt::format("{} operators", operators);
  } else {
    for (const Plan& plan : all) plans += (plans.empty() ? "" : "\n") + plan.explain();
  }
  catalog.record({"", names, plans, report.seconds, report.tasks, report.flops, report.peak_bytes,
                  report.bytes_read, report.bytes_spilled},
                 kernels);
}

}  // namespace tessera
