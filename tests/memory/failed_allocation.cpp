#include "memory/failed_allocation.h"

#include <atomic>
#include <cerrno>
#include <cstddef>

// The functions of the C library, which stands behind them under other names.

extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
}

namespace tessera {
namespace {

constinit std::atomic<bool> counts = false;
constinit std::atomic<std::int64_t> number = 0, fails_at = -1;

bool fails_now() {
  if (!counts.load(std::memory_order_relaxed)) return false;
  const std::int64_t own = number++, at = fails_at.load(std::memory_order_relaxed);
  return own == at;
}

}  // namespace

FailedAllocation::FailedAllocation(std::int64_t which) {
  number = 0;
  fails_at = which;
  counts = true;
}
FailedAllocation::~FailedAllocation() { counts = false; }
std::int64_t FailedAllocation::seen() const { return number; }

}  // namespace tessera

extern "C" {

void* malloc(std::size_t bytes) {
  if (!tessera::fails_now()) return __libc_malloc(bytes);
  errno = ENOMEM;
  return nullptr;
}

int posix_memalign(void** into, std::size_t alignment, std::size_t bytes) {
  if (tessera::fails_now()) return ENOMEM;
  *into = __libc_memalign(alignment, bytes);
  return *into != nullptr ? 0 : ENOMEM;
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  if (!tessera::fails_now()) return __libc_memalign(alignment, bytes);
  errno = ENOMEM;
  return nullptr;
}

}  // extern "C"
