#include "tile/kept_memory.h"

#include <limits>
#include <mutex>

#include "tile/buffer.h"

namespace tessera {
namespace {

struct Wishes {
  std::mutex mutex;
  std::multiset<std::size_t> bytes;

  void apply() {
    (void)retain_at_most(bytes.empty() ? std::numeric_limits<std::size_t>::max() : *bytes.begin());
  }
};

Wishes& wishes() {
  static Wishes all;
  return all;
}

}  // namespace

KeepAtMost::KeepAtMost(std::size_t bytes) {
  const std::lock_guard lock(wishes().mutex);
  entry_ = wishes().bytes.insert(bytes);
  wishes().apply();
}

KeepAtMost::~KeepAtMost() {
  const std::lock_guard lock(wishes().mutex);
  wishes().bytes.erase(entry_);
  wishes().apply();
}

}  // namespace tessera
