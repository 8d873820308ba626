#include "shell/tensor_json.h"

#include <fmt/format.h>

#include <cmath>
#include <ostream>

namespace tessera::shell {
namespace {

template <class T>
void write_number(fmt::memory_buffer& text, T value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(value)) {
      text.append(std::string_view("null"));
      return;
    }
    const std::size_t begin = text.size();
    fmt::format_to(std::back_inserter(text), "{}", value);
    // 5.0 is no integer, for readers that tell them apart.
    if (std::string_view(text.data() + begin, text.size() - begin).find_first_of(".e") ==
        std::string_view::npos)
      text.append(std::string_view(".0"));
  } else {
    fmt::format_to(std::back_inserter(text), "{}", value);  // true, 12
  }
}

/// Elements from `first` on, row-major.
template <class T>
const T* write_level(std::ostream& out, const Shape& shape, int dimension, const T* first) {
  fmt::memory_buffer text;
  if (dimension == shape.rank()) {
    write_number(text, *first);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    return first + 1;
  }
  out << '[';
  for (std::int64_t i = 0; i < shape[dimension]; ++i) {
    if (i > 0) out << ',';
    first = write_level(out, shape, dimension + 1, first);
  }
  out << ']';
  return first;
}

}  // namespace

void write_json(std::ostream& out, const Tile& tile) {
  const Tile rows = tile.dense().contiguous();
  switch (rows.dtype()) {
    case DType::f32: write_level(out, rows.shape(), 0, rows.data<float>()); return;
    case DType::f64: write_level(out, rows.shape(), 0, rows.data<double>()); return;
    case DType::i64: write_level(out, rows.shape(), 0, rows.data<std::int64_t>()); return;
    case DType::boolean: write_level(out, rows.shape(), 0, rows.data<bool>()); return;
  }
}

}  // namespace tessera::shell
