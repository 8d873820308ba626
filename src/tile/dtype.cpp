#include "tile/dispatch.h"

namespace tessera {

std::string_view to_string(DType dtype) {
  switch (dtype) {
    case DType::f32: return "f32";
    case DType::f64: return "f64";
    case DType::i64: return "i64";
    case DType::boolean: return "bool";
  }
  TESSERA_INVARIANT(false, "dtype {}", static_cast<int>(dtype));
}

DType parse_dtype(std::string_view name) {
  for (DType dtype : {DType::f32, DType::f64, DType::i64, DType::boolean})
    if (to_string(dtype) == name) return dtype;
  throw TypeError(fmt::format("'{}' is not a dtype: use f32, f64, i64 or bool", name));
}

std::size_t size_of(DType dtype) {
  return visit_dtype(dtype, []<class T>() { return sizeof(T); });
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (a == DType::boolean) return b;
  if (b == DType::boolean) return a;
  return DType::f64;  // i64 with f32 needs f64's 53 bits; the other pairs contain f64
}

}  // namespace tessera
