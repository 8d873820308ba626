#include "tile/buffer.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <new>

#include "base/check.h"

namespace tessera {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t retained_limit = 0;  // let the sanitizer see every use after free
#else
constexpr std::size_t retained_limit = std::size_t{256} << 20;
#endif
constexpr std::size_t recycled_from = std::size_t{256}
                                      << 10;  // smaller blocks are malloc's business

std::size_t rounded(std::size_t bytes) {
  const std::size_t unit = bytes >= recycled_from ? 4096 : buffer_alignment;
  return bytes == 0 ? unit : (bytes + unit - 1) / unit * unit;
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
    if (bytes > retained_limit) return false;
    const std::lock_guard lock(mutex_);
    while (retained_ + bytes > retained_limit) drop_oldest();
    try {
      blocks_.push_back({memory, bytes});
    } catch (const std::bad_alloc&) {
      return false;  // no memory for the entry: the caller frees the block, which is what helps
    }
    retained_ += bytes;
    return true;
  }

  /// Frees every block: what is retained here may be what a larger request lacks.
  void drain() {
    const std::lock_guard lock(mutex_);
    while (!blocks_.empty()) drop_oldest();
  }

 private:
  struct Block {
    void* memory;
    std::size_t bytes;
  };
  void drop_oldest() noexcept {
    std::free(blocks_.front().memory);
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
                  "out of memory: {} bytes for one tile", bytes);
  const std::size_t size = rounded(bytes);
  if (size >= recycled_from)
    if (void* block = free_blocks().take(size)) return block;
  void* block = std::aligned_alloc(buffer_alignment, size);
  if (block == nullptr) {
    free_blocks().drain();
    block = std::aligned_alloc(buffer_alignment, size);
  }
  TESSERA_REQUIRE(OutOfMemory, block != nullptr,
                  "out of memory: {} bytes for one tile; use smaller tiles or free others", bytes);
  return block;
}

void release_aligned(void* memory, std::size_t bytes) noexcept {
  const std::size_t size = rounded(bytes);
  if (size < recycled_from || !free_blocks().give(memory, size)) std::free(memory);
}

std::shared_ptr<std::byte> allocate_buffer(std::size_t bytes) {
  auto* memory = static_cast<std::byte*>(allocate_aligned(bytes));
  return {memory, [bytes](std::byte* p) { release_aligned(p, bytes); }};
}

}  // namespace tessera
