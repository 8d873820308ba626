#include "kernel/library_call.h"

#include <sys/mman.h>

#include <atomic>

#include "base/check.h"

namespace tessera {
namespace {

// Of the process, as the library's buffers are: it keeps them for later calls.
std::atomic<int> under_way = 0;
std::atomic<int> most_so_far = 0;

/// Whether the system would give as much as the library takes at once: 128 MiB and a bit.
bool has_room() {
  constexpr std::size_t bytes = std::size_t{144} << 20;
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  ::munmap(memory, bytes);
  return true;
}

}  // namespace

LibraryCall::LibraryCall() {
  const int now = under_way.fetch_add(1, std::memory_order_relaxed) + 1;
  int most = most_so_far.load(std::memory_order_relaxed);
  if (now <= most) return;
  if (!has_room()) {
    under_way.fetch_sub(1, std::memory_order_relaxed);
    throw OutOfMemory(
        "the process has no room for the 144 MiB that OpenBLAS needs for each thread: allow it "
        "more memory (ulimit -v), or use fewer threads");
  }
  while (now > most && !most_so_far.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
  }
}

LibraryCall::~LibraryCall() { under_way.fetch_sub(1, std::memory_order_relaxed); }

}  // namespace tessera
