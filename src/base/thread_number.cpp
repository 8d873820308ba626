#include "base/thread_number.h"

#include <algorithm>
#include <mutex>
#include <vector>

namespace tessera {
namespace {

/// Which numbers are taken. It is never destroyed: threads may end after all else.
struct Numbers {
  std::mutex mutex;
  std::vector<bool> taken;
};

Numbers& numbers() {
  static Numbers& all = *new Numbers;
  return all;
}

struct Own {
  int number;
  Own() {
    Numbers& all = numbers();
    const std::lock_guard lock(all.mutex);
    const auto free = std::find(all.taken.begin(), all.taken.end(), false);
    number = static_cast<int>(free - all.taken.begin());
    if (free == all.taken.end())
      all.taken.push_back(true);
    else
      *free = true;
  }
  ~Own() {
    Numbers& all = numbers();
    const std::lock_guard lock(all.mutex);
    all.taken[static_cast<std::size_t>(number)] = false;
  }
};

}  // namespace

int thread_number() {
  thread_local const Own own;
  return own.number;
}

}  // namespace tessera
