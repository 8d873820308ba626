#include "exec/statement_memory.h"

#include <algorithm>

#include "base/heap.h"
#include "exec/cluster.h"
#include "exec/memory_limit.h"

namespace tessera::exec {

std::int64_t memory_limit_of(const RunOptions& options) {
  if (options.memory_limit > 0) return options.memory_limit;
  const Cluster* others = cluster();
  const int here = others != nullptr ? others->local_size() : 1;
  return std::max<std::int64_t>(1, default_memory_limit() / here);
}

StatementMemory::StatementMemory(std::int64_t limit) {
  if (MemoryAccount::current() != nullptr) return;
  set_reserve_aside();
  kept_.emplace(static_cast<std::size_t>(limit / 16));
  account_.emplace(std::make_shared<MemoryAccount>(limit));
}

}  // namespace tessera::exec
