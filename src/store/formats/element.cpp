#include "store/formats/element.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "base/check.h"
#include "tile/convert.h"
#include "tile/dispatch.h"

namespace tessera::store {
namespace {

struct Kind {
  const char* numpy;  // without its byte order
  std::int64_t bytes;
  DType dtype;
};
// In the order of Number.
constexpr Kind kinds[] = {
    {"b1", 1, DType::boolean}, {"i1", 1, DType::i64}, {"i2", 2, DType::i64}, {"i4", 4, DType::i64},
    {"i8", 8, DType::i64},     {"u1", 1, DType::i64}, {"u2", 2, DType::i64}, {"u4", 4, DType::i64},
    {"u8", 8, DType::i64},     {"f2", 2, DType::f32}, {"f4", 4, DType::f32}, {"f8", 8, DType::f64},
};
const Kind& kind_of(Element element) { return kinds[static_cast<std::size_t>(element.number)]; }

/// IEEE's number of 16 bits: a sign, five bits of exponent, ten of fraction.
struct Half {
  std::uint16_t bits;
  explicit operator float() const {
    const int exponent = (bits >> 10) & 31;
    const auto fraction = static_cast<float>(bits & 1023);
    float value = 0;
    if (exponent == 31)
      value = fraction == 0 ? INFINITY : NAN;
    else if (exponent == 0)
      value = std::ldexp(fraction, -24);
    else
      value = std::ldexp(fraction + 1024, exponent - 25);
    return (bits & 0x8000) != 0 ? -value : value;
  }
};

/// Calls `f.operator()<T>()` with what C++ has for the number; a boolean of a file is any byte.
template <class F>
void visit_number(Number number, F&& f) {
  switch (number) {
    case Number::boolean: return f.template operator()<std::uint8_t>();
    case Number::i8: return f.template operator()<std::int8_t>();
    case Number::i16: return f.template operator()<std::int16_t>();
    case Number::i32: return f.template operator()<std::int32_t>();
    case Number::i64: return f.template operator()<std::int64_t>();
    case Number::u8: return f.template operator()<std::uint8_t>();
    case Number::u16: return f.template operator()<std::uint16_t>();
    case Number::u32: return f.template operator()<std::uint32_t>();
    case Number::u64: return f.template operator()<std::uint64_t>();
    case Number::f16: return f.template operator()<Half>();
    case Number::f32: return f.template operator()<float>();
    case Number::f64: return f.template operator()<double>();
  }
  TESSERA_INVARIANT(false, "number {}", static_cast<int>(number));
}

template <class T>
T loaded(const std::byte* from, bool swapped) {
  std::byte bytes[sizeof(T)];
  std::memcpy(bytes, from, sizeof(T));
  if (swapped) std::reverse(bytes, bytes + sizeof(T));
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

/// Whether i64 holds it.
template <class From>
bool fits(From value) {
  if constexpr (std::is_floating_point_v<From>)
    return value >= static_cast<From>(-9223372036854775808.0) &&
           value < static_cast<From>(9223372036854775808.0);
  else if constexpr (std::is_same_v<From, std::uint64_t>)
    return value <= static_cast<std::uint64_t>(INT64_MAX);
  else
    return true;
}

template <class From, class To>
void convert_all(const std::byte* from, bool swapped, std::int64_t count, To* into,
                 const std::string& what) {
  const auto one = [&](std::int64_t i, bool other_order) {
    const auto raw = loaded<From>(from + i * static_cast<std::int64_t>(sizeof(From)), other_order);
    if constexpr (std::is_same_v<From, Half>)
      return static_cast<float>(raw);
    else
      return raw;
  };
  using Value = decltype(one(0, false));
  constexpr bool may_not_fit =
      std::is_same_v<To, std::int64_t> &&
      (std::is_floating_point_v<Value> || std::is_same_v<Value, std::uint64_t>);
  const auto all = [&](auto other_order) {
    for (std::int64_t i = 0; i < count; ++i) {
      const Value value = one(i, other_order);
      if constexpr (may_not_fit)
        TESSERA_REQUIRE(
            ValueError, fits(value),
            "{} has the value {}, which does not fit into i64; import it with dtype f64", what,
            value);
      into[i] = tessera::convert<To>(value);
    }
  };
  if (swapped)
    all(std::true_type());
  else
    all(std::false_type());
}

}  // namespace

std::string to_string(Element element) {
  const char order = size_of(element) == 1                                             ? '|'
                     : element.swapped == (std::endian::native == std::endian::little) ? '>'
                                                                                       : '<';
  return order + std::string(kind_of(element).numpy);
}

std::int64_t size_of(Element element) { return kind_of(element).bytes; }

Element parse_element(std::string_view descr) {
  std::string_view name = descr;
  bool swapped = false;
  if (!name.empty() && std::string_view("<>=|").find(name[0]) != std::string_view::npos) {
    const bool little = std::endian::native == std::endian::little;
    swapped = name[0] == (little ? '>' : '<');
    name.remove_prefix(1);
  }
  if (name == "?") name = "b1";
  for (std::size_t i = 0; i < std::size(kinds); ++i)
    if (name == kinds[i].numpy) return {static_cast<Number>(i), swapped && kinds[i].bytes > 1};
  const char letter = name.empty() ? '\0' : name[0];
  const char* it = letter == 'c'                                     ? "complex numbers"
                   : letter == 'O'                                   ? "Python objects"
                   : letter == 'S' || letter == 'U' || letter == 'a' ? "text"
                   : letter == 'V'                                   ? "structures"
                   : letter == 'M' || letter == 'm'                  ? "dates"
                   : name == "f16" || name == "f12" ? "long doubles (save it as f8)"
                                                    : "unknown";
  throw TypeError(
      fmt::format("elements of type '{}' ({}) are not supported; supported: b1, i1 to i8, u1 to "
                  "u8, f2, f4 and f8, in either byte order",
                  descr, it));
}

std::string numpy_name(DType dtype) { return to_string(element_of(dtype)); }

Element element_of(DType dtype) {
  switch (dtype) {
    case DType::f32: return {Number::f32};
    case DType::f64: return {Number::f64};
    case DType::i64: return {Number::i64};
    case DType::boolean: return {Number::boolean};
  }
  TESSERA_INVARIANT(false, "dtype {}", static_cast<int>(dtype));
}

DType dtype_for(Element element) { return kind_of(element).dtype; }

bool is_same(Element element, DType dtype) {
  // A boolean of a file may be any byte, one of a tile is 0 or 1.
  return !element.swapped && element.number == element_of(dtype).number &&
         element.number != Number::boolean;
}

void convert(Element element, const std::byte* from, std::int64_t count, DType dtype,
             std::byte* into, const std::string& what) {
  if (is_same(element, dtype)) {
    if (count > 0) std::memcpy(into, from, static_cast<std::size_t>(count * size_of(element)));
    return;
  }
  visit_number(element.number, [&]<class From>() {
    visit_dtype(dtype, [&]<class To>() {
      if (element.number == Number::boolean && dtype != DType::boolean)  // any byte but 0 is 1
        for (std::int64_t i = 0; i < count; ++i)
          reinterpret_cast<To*>(into)[i] = from[i] != std::byte{0};
      else
        convert_all<From>(from, element.swapped, count, reinterpret_cast<To*>(into), what);
    });
  });
}

}  // namespace tessera::store
