#include "tile/buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <new>

#include "base/check.h"
#include "base/memory_account.h"
#include "tile/buffer_bytes.h"

namespace tessera {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t most_retained = 0;  // let the sanitizer see every use after free
#else
constexpr std::size_t most_retained = std::size_t{256} << 20;
#endif
std::atomic<std::size_t> retained_limit = most_retained;
constexpr std::size_t recycled_from = std::size_t{256}
                                      << 10;  // smaller blocks are malloc's business

std::size_t rounded(std::size_t bytes) {
  const std::size_t unit = bytes >= recycled_from ? 4096 : buffer_alignment;
  return bytes == 0 ? unit : (bytes + unit - 1) / unit * unit;
}

/// Large blocks are mappings of their own: what is freed goes back to the system, whereas malloc
/// may keep it for blocks that never come.
void* fresh_block(std::size_t size) {
#if !defined(__SANITIZE_ADDRESS__)
  if (size >= recycled_from) {
    void* block = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return block == MAP_FAILED ? nullptr : block;
  }
#endif
  return std::aligned_alloc(buffer_alignment, size);
}

void free_block(void* block, std::size_t size) noexcept {
#if !defined(__SANITIZE_ADDRESS__)
  if (size >= recycled_from) {
    (void)::munmap(block, size);
    return;
  }
#endif
  (void)size;
  std::free(block);
}

/// Blocks that were released and may serve again: the tiles of a relation mostly have the same
/// size. When too much is retained, what was released longest ago goes first.
class FreeBlocks {
 public:
  void* take(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(blocks_.rbegin(), blocks_.rend(),
                                    [&](const Block& block) { return block.bytes == bytes; });
    if (found == blocks_.rend()) return nullptr;
    void* memory = found->memory;
    retained_ -= bytes;
    blocks_.erase(std::next(found).base());
    return memory;
  }

  bool give(void* memory, std::size_t bytes) noexcept {
    const std::size_t limit = retained_limit;
    if (bytes > limit) return false;
    const std::lock_guard lock(mutex_);
    while (retained_ + bytes > limit) drop_oldest();
    try {
      blocks_.push_back({memory, bytes});
    } catch (const std::bad_alloc&) {
      return false;  // no memory for the entry: the caller frees the block, which is what helps
    }
    retained_ += bytes;
    return true;
  }

  /// Frees blocks until no more than this is retained: they may be what a larger request lacks.
  void shrink(std::size_t to) noexcept {
    const std::lock_guard lock(mutex_);
    while (retained_ > to) drop_oldest();
  }

 private:
  struct Block {
    void* memory;
    std::size_t bytes;
  };
  void drop_oldest() noexcept {
    free_block(blocks_.front().memory, blocks_.front().bytes);
    retained_ -= blocks_.front().bytes;
    blocks_.pop_front();
  }

  std::mutex mutex_;
  std::deque<Block> blocks_;  // in order of release
  std::size_t retained_ = 0;
};

/// Never destroyed, because tiles of static lifetime may be released after any destructor here.
FreeBlocks& free_blocks() {
  static auto* blocks = new FreeBlocks;
  return *blocks;
}

}  // namespace

void* allocate_aligned(std::size_t bytes) {
  TESSERA_REQUIRE(OutOfMemory, bytes < (std::size_t{1} << 62),
                  "out of memory: one tile needs {} bytes", bytes);
  const std::size_t size = rounded(bytes);
  require_memory(static_cast<std::int64_t>(size));
  void* block = size >= recycled_from ? free_blocks().take(size) : nullptr;
  if (block == nullptr) block = fresh_block(size);
  if (block == nullptr) {
    free_blocks().shrink(0);
    block = fresh_block(size);
  }
  TESSERA_REQUIRE(OutOfMemory, block != nullptr,
                  "out of memory: one tile needs {} bytes; use smaller tiles or free others",
                  bytes);
  count_memory(static_cast<std::int64_t>(size));
  return block;
}

void release_aligned(void* memory, std::size_t bytes) noexcept {
  const std::size_t size = rounded(bytes);
  count_memory(-static_cast<std::int64_t>(size));
  if (size < recycled_from || !free_blocks().give(memory, size)) free_block(memory, size);
}

std::size_t retain_at_most(std::size_t bytes) noexcept {
  const std::size_t before = retained_limit.exchange(std::min(bytes, most_retained));
  free_blocks().shrink(bytes);
  return before;
}

namespace {

struct Release {
  std::size_t bytes;
  void operator()(std::byte* memory) const { release_aligned(memory, bytes); }
};

}  // namespace

std::shared_ptr<std::byte> allocate_buffer(std::size_t bytes) {
  return {static_cast<std::byte*>(allocate_aligned(bytes)), Release{bytes}};
}

std::size_t buffer_bytes(const std::shared_ptr<const void>& owner) {
  const auto* release = std::get_deleter<Release>(owner);
  return release != nullptr ? release->bytes : 0;
}

}  // namespace tessera
