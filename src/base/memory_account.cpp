#include "base/memory_account.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/check.h"

namespace tessera {

constinit thread_local ThreadMemory thread_memory = {nullptr, 0};

namespace {

/// The owner of what `thread_memory` points to, which must be so plain that `new` can read it.
thread_local std::shared_ptr<MemoryAccount> open_account;

/// Opens another account, and yields the one that was open.
std::shared_ptr<MemoryAccount> open(std::shared_ptr<MemoryAccount> account) {
  ThreadMemory& here = thread_memory;
  if (here.account != nullptr) here.settle();
  open_account.swap(account);
  here = {open_account.get(), 0};
  return account;
}

}  // namespace

std::shared_ptr<MemoryAccount> MemoryAccount::current() { return open_account; }

bool MemoryAccount::has_room_for(std::int64_t bytes) const {
  return bytes - margin <= limit_ - held();
}

void MemoryAccount::refuse(std::int64_t bytes, const char* what) const {
  const std::int64_t all = std::max<std::int64_t>(held(), 0) + bytes;
  const std::string whose = what != nullptr ? fmt::format(" for {}", what) : std::string();
  const std::string needed =
      bytes > 0 ? fmt::format("{} more memory is needed{}, {} in total", bytes_text(bytes), whose,
                              bytes_text(all))
                : fmt::format("at least {} of memory are needed{}", bytes_text(all), whose);
  throw OutOfMemory(
      fmt::format("{}, but the limit is {}: raise memory_limit, or compute less at once, with "
                  "smaller tiles or fewer rows",
                  needed, bytes_text(limit_)));
}

OpenAccount::OpenAccount(std::shared_ptr<MemoryAccount> account)
    : account_(std::move(account)), before_(open(account_)) {}

OpenAccount::~OpenAccount() { (void)open(std::move(before_)); }

}  // namespace tessera
