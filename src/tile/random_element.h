#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

// The numbers of random tensors. Each depends on the seed and on its position alone, so that it is
// the same whatever the tiles are, and in which order they are made.

namespace tessera {

/// The i-th number of a seed's sequence (SplitMix64).
inline std::uint64_t random_bits(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t z = seed * 0xd1342543de82ef95U + (i + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

inline double unit(std::uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1p-53;  // [0, 1)
}

inline double uniform_element(std::uint64_t seed, std::uint64_t i, double low, double high) {
  return low + (high - low) * unit(random_bits(seed, i));
}

/// Box-Muller.
inline double normal_element(std::uint64_t seed, std::uint64_t i, double mean, double deviation) {
  const double radius = std::sqrt(-2 * std::log(1 - unit(random_bits(seed, 2 * i))));
  const double angle = 2 * std::numbers::pi * unit(random_bits(seed, 2 * i + 1));
  return mean + deviation * radius * std::cos(angle);
}

}  // namespace tessera
