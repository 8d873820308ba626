#include "store/catalog.h"

namespace tessera::store {

/// Runs that are remembered. Older ones are forgotten; the rates of kernels keep what they showed.
constexpr int most_remembered = 10000;

void Catalog::record(const PastRun& run, const std::vector<KernelRate>& kernels) {
  sqlite_
      .prepare(
          "INSERT INTO history(at, name, plan, seconds, tasks, flops, peak, read, spilled) "
          "VALUES(datetime('now'), ?, ?, ?, ?, ?, ?, ?, ?)")
      .bind(run.name, run.plan, run.seconds, run.tasks, run.flops, run.peak_bytes, run.bytes_read,
            run.bytes_spilled)
      .run();
  sqlite_.prepare("DELETE FROM history WHERE id <= (SELECT max(id) FROM history) - ?")
      .bind(most_remembered)
      .run();
  for (const KernelRate& rate : kernels)
    sqlite_
        .prepare(
            "INSERT INTO kernel_rates VALUES(?, ?, ?, ?, ?) ON CONFLICT(kernel) DO UPDATE SET "
            "tasks = tasks + excluded.tasks, flops = flops + excluded.flops, "
            "bytes = bytes + excluded.bytes, seconds = seconds + excluded.seconds")
        .bind(rate.kernel, rate.tasks, rate.flops, rate.bytes, rate.seconds)
        .run();
}

std::vector<PastRun> Catalog::history() {
  std::vector<PastRun> runs;
  Statement rows = sqlite_.prepare(
      "SELECT at, name, plan, seconds, tasks, flops, peak, read, spilled FROM history "
      "ORDER BY id DESC");
  while (rows.step())
    runs.push_back({rows.text(0), rows.text(1), rows.text(2), rows.real(3), rows.integer(4),
                    rows.real(5), rows.integer(6), rows.integer(7), rows.integer(8)});
  return runs;
}

std::vector<KernelRate> Catalog::kernel_rates() {
  std::vector<KernelRate> rates;
  Statement rows =
      sqlite_.prepare("SELECT kernel, tasks, flops, bytes, seconds FROM kernel_rates ORDER BY 1");
  while (rows.step())
    rates.push_back({rows.text(0), rows.integer(1), rows.real(2), rows.real(3), rows.real(4)});
  return rates;
}

}  // namespace tessera::store
