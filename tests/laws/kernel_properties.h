#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tessera/kernel.h"

namespace tessera {

struct ClaimsReport {
  int laws = 0;
  std::int64_t trials = 0;
  std::vector<std::string> broken;  // the law, and a case in which it does not hold
};

/// Tries every claim in a kernel's properties on random tiles of small integers, on which float
/// arithmetic is exact, in random layouts and with random parameters: `trials` times for each of
/// f32, f64 and i64, and for bool where the law speaks of bool. A claim that cannot be tried often
/// enough is reported as broken.
ClaimsReport try_claims(const std::shared_ptr<const Kernel>& kernel, std::uint64_t seed,
                        int trials);

}  // namespace tessera
