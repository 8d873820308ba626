#include "database/workload.h"

#include "tessera/database.h"

namespace tessera {

void remember(store::Catalog& catalog, const std::string& name, const Plan& plan,
              const RunReport& report) {
  std::vector<KernelRate> kernels;
  for (const OperatorReport& own : report.operators)
    if (!own.kernel.empty() && own.tasks > 0)
      kernels.push_back({own.kernel, own.tasks, own.flops, own.bytes, own.seconds});
  catalog.record({"", name, plan.explain(), report.seconds, report.tasks, report.flops,
                  report.peak_bytes, report.bytes_read, report.bytes_spilled},
                 kernels);
}

}  // namespace tessera
