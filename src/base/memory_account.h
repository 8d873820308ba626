#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <new>

#include "base/heap.h"

namespace tessera {

/// What a statement holds in memory, and the most that it may: its tiles, what kernels work in, its
/// rows, its plans and tasks. What a thread allocates, and what it frees, counts in the account
/// that is open in it: blocks of tile memory one by one (tile/buffer.cpp), and what `new` and
/// `delete` give and take (counted_heap.cpp) in sums. What is too much is refused before it is
/// allocated, or, where much is made of little things, at the next place that looks
/// (`look_at_memory`).
///
/// The limit is one on tiles, which a run keeps below it by itself. The account is what holds for
/// everything else too, and allows `margin` beyond it: a statement that has little to hold needs to
/// be planned as well.
class MemoryAccount {
 public:
  static constexpr std::int64_t margin = std::int64_t{24} << 20;

  explicit MemoryAccount(std::int64_t limit) : limit_(limit) {}
  MemoryAccount(const MemoryAccount&) = delete;
  MemoryAccount& operator=(const MemoryAccount&) = delete;

  /// The account that is open in this thread, if there is one: for who starts another thread.
  static std::shared_ptr<MemoryAccount> current();

  std::int64_t limit() const { return limit_; }
  std::int64_t held() const { return held_.load(std::memory_order_relaxed); }
  bool is_over() const { return held() - limit_ > margin; }  // neither sum can overflow
  bool has_room_for(std::int64_t bytes) const;

  /// OutOfMemory that says what is needed: so many bytes more than are held. `what`: for what, or
  /// nullptr if that is not known.
  [[noreturn]] void refuse(std::int64_t bytes, const char* what) const;

 private:
  friend struct ThreadMemory;
  std::int64_t limit_;
  std::atomic<std::int64_t> held_ = 0;
};

/// What a thread knows of the account that is open in it.
struct ThreadMemory {
  MemoryAccount* account;
  std::int64_t pending;  // counted here, and not yet there: threads would wait for each other

  void count(std::int64_t bytes) {
    constexpr std::int64_t much = std::int64_t{128} << 10;
    pending += bytes;
    if (pending > much || pending < -much) settle();
  }
  void settle() {
    account->held_.fetch_add(pending, std::memory_order_relaxed);
    pending = 0;
  }
};
extern constinit thread_local ThreadMemory thread_memory
    __attribute__((tls_model("initial-exec")));  // which `new` reads: it has to be fast

/// While this lives, what this thread allocates counts in an account; in none, if there is none.
class OpenAccount {
 public:
  explicit OpenAccount(std::shared_ptr<MemoryAccount> account);
  ~OpenAccount();
  OpenAccount(const OpenAccount&) = delete;
  OpenAccount& operator=(const OpenAccount&) = delete;

 private:
  std::shared_ptr<MemoryAccount> account_, before_;
};

/// Before a block of so many bytes is allocated for a statement: OutOfMemory if it does not fit the
/// account, and bad_alloc if the machine has no more.
inline void require_memory(std::int64_t bytes, const char* what = nullptr) {
  const ThreadMemory& here = thread_memory;
  if (here.account == nullptr) return;
  if (is_exhausted()) throw std::bad_alloc();
  if (!here.account->has_room_for(bytes)) here.account->refuse(bytes, what);
}

/// For loops that make much of little things: OutOfMemory if that has come to be too much, and
/// bad_alloc if the machine has no more.
inline void look_at_memory(const char* what) {
  const ThreadMemory& here = thread_memory;
  if (here.account == nullptr) return;
  if (is_exhausted()) throw std::bad_alloc();
  if (here.account->is_over()) here.account->refuse(0, what);
}

/// Bytes that this thread has allocated, or, if negative, freed.
inline void count_memory(std::int64_t bytes) {
  if (ThreadMemory& here = thread_memory; here.account != nullptr) here.count(bytes);
}

}  // namespace tessera
