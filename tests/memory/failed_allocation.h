#pragma once

#include <cstdint>

namespace tessera {

/// While this lives, one allocation fails, in whatever thread it is made, as if the machine had no
/// memory for it.
class FailedAllocation {
 public:
  explicit FailedAllocation(std::int64_t which);  // 0: the first one; negative: none
  ~FailedAllocation();
  FailedAllocation(const FailedAllocation&) = delete;
  FailedAllocation& operator=(const FailedAllocation&) = delete;

  std::int64_t seen() const;  // allocations since it began
};

}  // namespace tessera
