#include "tile/kept_memory.h"

#include <limits>
#include <mutex>

#include "tile/buffer.h"

namespace tessera {
namespace {

struct RetentionLimits {
  std::mutex mutex;
  std::multiset<std::size_t> bytes;

  void apply() {
    (void)retain_at_most(bytes.empty() ? std::numeric_limits<std::size_t>::max() : *bytes.begin());
  }
};

RetentionLimits& retention_limits() {
  static RetentionLimits all;
  return all;
}

}  // namespace

KeepAtMost::KeepAtMost(std::size_t bytes) {
  const std::lock_guard lock(retention_limits().mutex);
  entry_ = retention_limits().bytes.insert(bytes);
  retention_limits().apply();
}

KeepAtMost::~KeepAtMost() {
  const std::lock_guard lock(retention_limits().mutex);
  retention_limits().bytes.erase(entry_);
  retention_limits().apply();
}

}  // namespace tessera
