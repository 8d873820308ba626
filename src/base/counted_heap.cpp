// The heap of C++, counted in the account of the thread that uses it: whatever grows while a
// statement is read, planned and carried out counts without a word of its own. A block counts as
// what malloc gives for it. One that is large is refused before it is allocated; one that is small
// never is, so that what makes nothing but such may be called where nothing may be thrown.
//
// A program that has operators `new` and `delete` of its own keeps these, as they come first when
// it is linked; then tiles alone are counted. The sanitizers have theirs, which see more mistakes.

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "base/heap.h"
#include "base/memory_account.h"

namespace tessera {
namespace {

constexpr std::size_t large = std::size_t{64} << 10;

template <class Allocate>
void* counted_block(std::size_t bytes, const Allocate& allocate) {
  if (bytes >= large) {
    // Lengths that have gone wrong are left to malloc, which refuses them.
    constexpr std::size_t most = std::size_t{1} << 62;
    require_memory(static_cast<std::int64_t>(std::min(bytes, most)));
  }
  for (;;) {
    if (void* block = allocate()) {
      if (thread_memory.account != nullptr)
        thread_memory.count(static_cast<std::int64_t>(::malloc_usable_size(block)));
      return block;
    }
    if (bytes < large && release_reserve()) continue;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

void free_counted(void* block) noexcept {
  if (thread_memory.account != nullptr && block != nullptr)
    thread_memory.count(-static_cast<std::int64_t>(::malloc_usable_size(block)));
  std::free(block);
}

}  // namespace
}  // namespace tessera

void* operator new(std::size_t bytes) {
  return tessera::counted_block(bytes,
                                [=] { return std::malloc(std::max<std::size_t>(bytes, 1)); });
}

void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return tessera::counted_block(bytes, [=]() -> void* {
    const auto unit = std::max(static_cast<std::size_t>(alignment), sizeof(void*));
    void* block = nullptr;
    return ::posix_memalign(&block, unit, std::max<std::size_t>(bytes, 1)) == 0 ? block : nullptr;
  });
}

void operator delete(void* block) noexcept { tessera::free_counted(block); }
void operator delete(void* block, std::size_t) noexcept { tessera::free_counted(block); }
void operator delete(void* block, std::align_val_t) noexcept { tessera::free_counted(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept {
  tessera::free_counted(block);
}

#endif
