#include "database/workload.h"

#include "tessera/database.h"

namespace tessera {

void remember(store::Catalog& catalog, const std::vector<std::pair<std::string, Plan>>& results,
              const RunReport& report) {
  std::vector<KernelRate> kernels;
  for (const OperatorReport& own : report.operators)
    if (!own.kernel.empty() && own.tasks > 0)
      kernels.push_back({own.kernel, own.tasks, own.flops, own.bytes, own.seconds});
  std::string names, plans;
  for (const auto& [name, plan] : results) {
    names += (names.empty() ? "" : ", ") + name;
    plans += (plans.empty() ? "" : "\n") + plan.explain();
  }
  catalog.record({"", names, plans, report.seconds, report.tasks, report.flops, report.peak_bytes,
                  report.bytes_read, report.bytes_spilled},
                 kernels);
}

}  // namespace tessera
