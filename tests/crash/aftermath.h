#pragma once

#include <filesystem>

#include "crash/workload.h"

namespace tessera::crash {

/// What must be there after a process has ended, in whatever way: what was there before, changed by
/// every statement that was acknowledged, and nothing else; of those that were begun and not
/// acknowledged, each as a whole or not at all.
struct Expected {
  Contents contents;
  std::vector<Step> perhaps;

  void add(const History& history);
};

/// Opens a database and compares it with what must be there: names, every tile of every relation,
/// checksums, and that nothing else takes room in the folder. Failures are gtest's. Afterwards
/// `expected` is what was found.
void verify(const std::filesystem::path& folder, Expected& expected);

}  // namespace tessera::crash
