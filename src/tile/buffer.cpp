#include "tile/buffer.h"

#include <cstdlib>
#include <map>
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
constexpr std::size_t recycled_from = std::size_t{256} << 10;  // smaller blocks are malloc's business

std::size_t rounded(std::size_t bytes) {
  const std::size_t unit = bytes >= recycled_from ? 4096 : buffer_alignment;
  return bytes == 0 ? unit : (bytes + unit - 1) / unit * unit;
}

/// Blocks that were released and may serve again, by size: the tiles of a relation mostly have
/// the same one.
class FreeBlocks {
 public:
  void* take(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(bytes);
    if (found == blocks_.end()) return nullptr;
    void* block = found->second;
    retained_ -= found->first;
    blocks_.erase(found);
    return block;
  }

  bool give(void* block, std::size_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    if (retained_ + bytes > retained_limit) return false;
    try {
      blocks_.emplace(bytes, block);
    } catch (const std::bad_alloc&) {
      return false;  // no memory for the entry: the caller frees the block, which is what helps
    }
    retained_ += bytes;
    return true;
  }

  /// Frees every block: what is retained here may be what a larger request lacks.
  void drain() {
    const std::lock_guard lock(mutex_);
    for (const auto& [bytes, block] : blocks_) std::free(block);
    blocks_.clear();
    retained_ = 0;
  }

 private:
  std::mutex mutex_;
  std::multimap<std::size_t, void*> blocks_;
  std::size_t retained_ = 0;
};

/// Never destroyed, because tiles of static lifetime may be released after any destructor here.
FreeBlocks& free_blocks() {
  static auto* blocks = new FreeBlocks;
  return *blocks;
}

}  // namespace

void* allocate_aligned(std::size_t bytes) {
  require<OutOfMemory>(bytes < (std::size_t{1} << 62), "out of memory: {} bytes for one tile",
                       bytes);
  const std::size_t size = rounded(bytes);
  if (size >= recycled_from)
    if (void* block = free_blocks().take(size)) return block;
  void* block = std::aligned_alloc(buffer_alignment, size);
  if (block == nullptr) {
    free_blocks().drain();
    block = std::aligned_alloc(buffer_alignment, size);
  }
  require<OutOfMemory>(block != nullptr,
                       "out of memory: {} bytes for one tile; use smaller tiles or free others",
                       bytes);
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
