#include "base/heap.h"

#include <malloc.h>
#include <sys/mman.h>

#include <atomic>

namespace tessera {

constinit std::atomic<bool> heap_detail::is_exhausted = false;

namespace {

constexpr std::size_t reserve_bytes = std::size_t{2} << 20;  // never touched: it takes addresses
std::atomic<void*> reserve = nullptr;

}  // namespace

void give_back_free_memory() { (void)::malloc_trim(0); }

void set_reserve_aside() noexcept {
  if (reserve.load(std::memory_order_relaxed) != nullptr) return;
  void* block =
      ::mmap(nullptr, reserve_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) return;
  void* none = nullptr;
  if (!reserve.compare_exchange_strong(none, block)) (void)::munmap(block, reserve_bytes);
  heap_detail::is_exhausted = false;
}

bool release_reserve() noexcept {
  void* block = reserve.exchange(nullptr);
  if (block == nullptr || ::munmap(block, reserve_bytes) != 0) return false;
  heap_detail::is_exhausted = true;
  return true;
}

}  // namespace tessera
