#pragma once

#include <cstdint>

namespace tessera::frames {

/// Random numbers (SplitMix64) that are the same on every machine and in every process: those of a
/// cluster must all find the same cut.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// Below `bound`, which is positive.
  std::int32_t below(std::int32_t bound) {
    return static_cast<std::int32_t>(bits() % static_cast<std::uint64_t>(bound));
  }
  /// At least 0, less than 1.
  float fraction() { return static_cast<float>(bits() >> 40) * 0x1p-24F; }

 private:
  std::uint64_t state_;
};

}  // namespace tessera::frames
