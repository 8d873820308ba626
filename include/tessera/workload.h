#pragma once

#include <cstdint>
#include <string>

namespace tessera {

/// A plan whose result was stored in a database, and what it took.
struct PastRun {
  std::string at;    // when it ended, in UTC: "2030-01-31 12:00:00"
  std::string name;  // of what was stored
  std::string plan;  // as Plan::explain shows it
  double seconds = 0;
  std::int64_t tasks = 0;
  double flops = 0;
  std::int64_t peak_bytes = 0, bytes_read = 0, bytes_spilled = 0;
};

/// What a kernel has done for the plans of a database, all in all.
struct KernelRate {
  std::string kernel;
  std::int64_t tasks = 0;
  double flops = 0, bytes = 0;  // as it predicts them
  double seconds = 0;           // of one thread
};

}  // namespace tessera
