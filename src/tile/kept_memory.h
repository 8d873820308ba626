#pragma once

#include <cstddef>
#include <set>

namespace tessera {

/// While one of these lives, no more than so many bytes of released memory are kept for later, in
/// the whole process. Of several that live at once, in whatever threads, the least counts.
class KeepAtMost {
 public:
  explicit KeepAtMost(std::size_t bytes);
  ~KeepAtMost();
  KeepAtMost(const KeepAtMost&) = delete;
  KeepAtMost& operator=(const KeepAtMost&) = delete;

 private:
  std::multiset<std::size_t>::iterator entry_;
};

}  // namespace tessera
