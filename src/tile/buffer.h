#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace tessera {

inline constexpr std::size_t buffer_alignment = 64;  // a cache line, and the widest vector

/// Uninitialised memory for tiles. Large blocks are recycled when the last owner lets go: a fresh
/// mapping costs a page fault every 4 KiB, which is slower than most kernels that fill it.
/// OutOfMemory, naming the size, if there is none.
std::shared_ptr<std::byte> allocate_buffer(std::size_t bytes);

void* allocate_aligned(std::size_t bytes);
void release_aligned(void* memory, std::size_t bytes) noexcept;

/// How much released memory is kept for later, in the whole process. Returns what it was before.
std::size_t retain_at_most(std::size_t bytes) noexcept;

/// An allocator over the same blocks that leaves new elements uninitialised.
template <class T>
struct BufferAllocator {
  using value_type = T;
  BufferAllocator() = default;
  template <class U>
  BufferAllocator(const BufferAllocator<U>&) {}  // NOLINT: allocators convert
  T* allocate(std::size_t n) { return static_cast<T*>(allocate_aligned(n * sizeof(T))); }
  void deallocate(T* p, std::size_t n) noexcept { release_aligned(p, n * sizeof(T)); }
  template <class U>
  void construct(U* p) noexcept {
    ::new (static_cast<void*>(p)) U;
  }
  template <class U, class... Args>
  void construct(U* p, Args&&... args) {
    ::new (static_cast<void*>(p)) U(std::forward<Args>(args)...);
  }
  friend bool operator==(const BufferAllocator&, const BufferAllocator&) { return true; }
};

template <class T>
using BufferVector = std::vector<T, BufferAllocator<T>>;

}  // namespace tessera
