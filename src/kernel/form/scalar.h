#pragma once

#include <variant>

#include "tile/convert.h"
#include "tile/dispatch.h"

namespace tessera {

/// One number of a dtype, outside of any tile. Converts as `Tile::cast` does.
class Scalar {
 public:
  Scalar() = default;
  template <class T>
  requires is_element<T> Scalar(T value) : value_(value) {}  // NOLINT: on purpose

  DType dtype() const {
    return std::visit([]<class T>(T) { return dtype_of<T>; }, value_);
  }
  template <class T>
  requires is_element<T> T as()
  const {
    return std::visit([](auto value) { return convert<T>(value); }, value_);
  }
  Scalar cast(DType dtype) const {
    return visit_dtype(dtype, [&]<class T>() { return Scalar(as<T>()); });
  }
  friend bool operator==(const Scalar&, const Scalar&) = default;

 private:
  std::variant<double, float, std::int64_t, bool> value_ = 0.0;
};

}  // namespace tessera
