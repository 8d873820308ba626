#include "exec/statement_memory.h"

#include "base/heap.h"
#include "exec/context.h"

namespace tessera::exec {

std::int64_t memory_limit_of(const RunOptions& options) {
  if (options.memory_limit > 0) return options.memory_limit;
  return context_of(options).options.memory_limit;
}

StatementMemory::StatementMemory(std::int64_t limit) {
  if (MemoryAccount::current() != nullptr) return;
  set_reserve_aside();
  kept_.emplace(static_cast<std::size_t>(limit / 16));
  account_.emplace(std::make_shared<MemoryAccount>(limit));
}

}  // namespace tessera::exec
