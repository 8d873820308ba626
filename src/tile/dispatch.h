#pragma once

#include <cstdint>
#include <utility>

#include "base/check.h"
#include "tessera/tile.h"

namespace tessera {

/// Calls `f.operator()<T>()` with the C++ type of the dtype's elements.
template <class F>
decltype(auto) visit_dtype(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f32: return std::forward<F>(f).template operator()<float>();
    case DType::f64: return std::forward<F>(f).template operator()<double>();
    case DType::i64: return std::forward<F>(f).template operator()<std::int64_t>();
    case DType::boolean: return std::forward<F>(f).template operator()<bool>();
  }
  TESSERA_INVARIANT(false, "dtype {}", static_cast<int>(dtype));
}

inline bool is_float(DType dtype) { return dtype == DType::f32 || dtype == DType::f64; }
/// The float dtype a transcendental function works in: f32 stays, the others become f64.
inline DType float_of(DType dtype) { return dtype == DType::f32 ? DType::f32 : DType::f64; }

}  // namespace tessera
