#pragma once

#include <optional>

#include "base/memory_account.h"
#include "tessera/run.h"
#include "tile/kept_memory.h"

namespace tessera::exec {

/// What a statement or a run may hold: what its options say, or else the default, of which the
/// processes of a cluster that share a machine have a part each.
std::int64_t memory_limit_of(const RunOptions& options);

/// While this lives, all that this thread allocates counts in one account, and released memory is
/// kept for later only as far as the limit lets it. What is begun inside another, as a run is
/// inside a statement, counts there.
class StatementMemory {
 public:
  explicit StatementMemory(std::int64_t limit);

 private:
  std::optional<KeepAtMost> kept_;
  std::optional<OpenAccount> account_;
};

}  // namespace tessera::exec
