#include "tile/nested_text.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <memory>
#include <ostream>

#include "base/check.h"

namespace tessera {
namespace {

template <class T>
void append_number(fmt::memory_buffer& text, T value, NotFinite not_finite) {
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(value)) {
      if (not_finite == NotFinite::null)
        text.append(std::string_view("null"));
      else if (std::isnan(value))
        text.append(std::string_view("nan"));  // it has no sign that matters
      else
        text.append(std::string_view(value > 0 ? "inf" : "-inf"));
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
const T* write_level(std::ostream& out, const Shape& shape, int dimension, const T* first,
                     NotFinite not_finite) {
  if (dimension == shape.rank()) {
    fmt::memory_buffer text;
    append_number(text, *first, not_finite);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    return first + 1;
  }
  out << '[';
  for (std::int64_t i = 0; i < shape[dimension]; ++i) {
    if (i > 0) out << ',';
    first = write_level(out, shape, dimension + 1, first, not_finite);
  }
  out << ']';
  return first;
}

/// Reads the elements of one dtype, and finds the extents as it goes.
template <class T>
class NestedReader {
 public:
  NestedReader(std::string_view text, int rank) : rest_(text), shape_(rank, unknown) {}

  Tile read() {
    read_level(0);
    skip_blanks();
    if (!rest_.empty()) fail("unexpected text after its end:");
    for (std::int64_t& extent : shape_)
      if (extent == unknown) extent = 0;  // below a dimension without elements
    MutableTile tile = MutableTile::uninitialized(dtype_of<T>, shape_);
    std::copy(elements_.begin(), elements_.end(), tile.template data<T>());
    return std::move(tile).publish();
  }

 private:
  static constexpr std::int64_t unknown = -1;

  void read_level(int dimension) {
    if (dimension == shape_.rank()) return read_number();
    if (!takes('[')) fail("expected [ before");
    std::int64_t count = 0;
    if (!takes(']')) {
      do {
        read_level(dimension + 1);
        ++count;
      } while (takes(','));
      if (!takes(']')) fail("expected , or ] before");
    }
    std::int64_t& extent = shape_[dimension];
    if (extent == unknown) extent = count;
    TESSERA_REQUIRE(
        ValueError, extent == count,
        "all lists of a tensor must have equal lengths, but a list of {} follows a list of {}",
        count, extent);
  }

  void read_number() {
    skip_blanks();
    const std::size_t length = std::min(rest_.find_first_of(",] \t\r\n"), rest_.size());
    const std::string_view word = rest_.substr(0, length);
    T value{};
    if (!parse(word, value)) fail("expected a number, not");
    elements_.push_back(value);
    rest_.remove_prefix(length);
  }

  static bool parse(std::string_view word, bool& value) {
    value = word == "true" || word == "1";
    return value || word == "false" || word == "0";
  }
  static bool parse(std::string_view word, auto& value) {
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    return error == std::errc() && end == word.data() + word.size();
  }

  bool takes(char c) {
    skip_blanks();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void skip_blanks() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
  }
  [[noreturn]] void fail(const char* what) const {
    constexpr std::size_t shown = 20;
    throw ValueError(rest_.empty()
                         ? "malformed tensor: it ends too early"
                         : fmt::format("malformed tensor: {} '{}'", what, rest_.substr(0, shown)));
  }

  std::string_view rest_;
  Shape shape_;
  std::vector<T> elements_;
};

}  // namespace

void write_nested(std::ostream& out, const Tile& tile, NotFinite not_finite) {
  const Tile rows = tile.dense().contiguous();
  const Shape& shape = rows.shape();
  switch (rows.dtype()) {
    case DType::f32: write_level(out, shape, 0, rows.data<float>(), not_finite); return;
    case DType::f64: write_level(out, shape, 0, rows.data<double>(), not_finite); return;
    case DType::i64: write_level(out, shape, 0, rows.data<std::int64_t>(), not_finite); return;
    case DType::boolean: write_level(out, shape, 0, rows.data<bool>(), not_finite); return;
  }
}

Tile read_nested(std::string_view text, DType dtype, int rank) {
  switch (dtype) {
    case DType::f32: return NestedReader<float>(text, rank).read();
    case DType::i64: return NestedReader<std::int64_t>(text, rank).read();
    case DType::boolean: return NestedReader<bool>(text, rank).read();
    case DType::f64: break;
  }
  return NestedReader<double>(text, rank).read();
}

}  // namespace tessera
