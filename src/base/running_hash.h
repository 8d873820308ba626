#pragma once

#include <xxhash.h>

#include <memory>

#include "base/failed_allocation.h"

namespace tessera {

/// XXH3 of bytes that come one piece after the other.
class RunningHash {
 public:
  RunningHash() : state_(allocated(XXH3_createState())) { (void)XXH3_64bits_reset(state_.get()); }

  void add(const void* bytes, std::size_t count) {
    (void)XXH3_64bits_update(state_.get(), bytes, count);
  }
  std::uint64_t value() const { return XXH3_64bits_digest(state_.get()); }

 private:
  struct Free {
    void operator()(XXH3_state_t* state) const { (void)XXH3_freeState(state); }
  };
  std::unique_ptr<XXH3_state_t, Free> state_;
};

}  // namespace tessera
