#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "tessera/tile.h"

namespace tessera {

/// Elements at equal distances: the first, and how many elements further the next one lies.
struct Run {
  const std::byte* first = nullptr;
  std::int64_t stride = 1;
};

/// result[i * stride] = f(operands[0][i], operands[1][i], ..) for i < count. The dtypes are those
/// the loop was made for: what is compiled is one loop an operation and dtype, and everything
/// that walks through tiles is compiled once.
using Loop = void (*)(std::byte* result, std::int64_t stride, const Run* operands,
                      std::int64_t count);

inline constexpr std::size_t max_operands = 2;

/// A loop for each dtype, in the order of DType; null where the function is not defined.
using Loops = std::array<Loop, 4>;

/// f at each element of dense tiles that broadcast to `shape`; the tiles have the dtype of the
/// loop, and `dtype` is that of its results.
Tile map_elements(Loop loop, DType dtype, const Shape& shape, std::span<const Tile> operands);

/// accumulator[i] += tile[i]. The shapes are equal; the tile is cast to the accumulator's dtype,
/// and a sparse tile adds its stored entries alone.
void add_into(MutableTile& accumulator, const Tile& tile);

template <class F, class T>
void unary_loop(std::byte* result, std::int64_t stride, const Run* operands, std::int64_t count) {
  using Result = std::invoke_result_t<F, T>;
  auto* __restrict out = reinterpret_cast<Result*>(result);
  const T* in = reinterpret_cast<const T*>(operands[0].first);
  const std::int64_t step = operands[0].stride;
  const F f;
  if (stride == 1 && step == 1) {
    for (std::int64_t i = 0; i < count; ++i) out[i] = f(in[i]);
  } else {
    for (std::int64_t i = 0; i < count; ++i) out[i * stride] = f(in[i * step]);
  }
}

template <class F, class T>
void binary_loop(std::byte* result, std::int64_t stride, const Run* operands, std::int64_t count) {
  using Result = std::invoke_result_t<F, T, T>;
  auto* __restrict out = reinterpret_cast<Result*>(result);
  const T* a = reinterpret_cast<const T*>(operands[0].first);
  const T* b = reinterpret_cast<const T*>(operands[1].first);
  const std::int64_t step_a = operands[0].stride;
  const std::int64_t step_b = operands[1].stride;
  const F f;
  if (stride == 1 && step_a == 1 && step_b == 1) {
    for (std::int64_t i = 0; i < count; ++i) out[i] = f(a[i], b[i]);
  } else if (stride == 1 && step_a == 1 && step_b == 0) {
    const T right = *b;
    for (std::int64_t i = 0; i < count; ++i) out[i] = f(a[i], right);
  } else if (stride == 1 && step_a == 0 && step_b == 1) {
    const T left = *a;
    for (std::int64_t i = 0; i < count; ++i) out[i] = f(left, b[i]);
  } else {
    for (std::int64_t i = 0; i < count; ++i) out[i * stride] = f(a[i * step_a], b[i * step_b]);
  }
}

template <class F, class T>
constexpr Loop loop_if_defined() {
  if constexpr (std::is_invocable_v<F, T>)
    return unary_loop<F, T>;
  else if constexpr (std::is_invocable_v<F, T, T>)
    return binary_loop<F, T>;
  else
    return nullptr;
}

template <class F>
constexpr Loops loops_of() {
  return {loop_if_defined<F, float>(), loop_if_defined<F, double>(),
          loop_if_defined<F, std::int64_t>(), loop_if_defined<F, bool>()};
}

inline Loop loop_for(const Loops& loops, DType dtype) { return loops[static_cast<int>(dtype)]; }

}  // namespace tessera
