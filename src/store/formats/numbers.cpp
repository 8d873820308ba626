#include "store/formats/numbers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "tile/dispatch.h"

namespace tessera::store {
namespace {

/// The value of a number that no double is near to: an infinity or a zero. Its first digit that is
/// not zero, seen from the point, and its exponent tell which.
double out_of_range(const char* first, const char* last) {
  const bool negative = *first == '-';
  if (negative) ++first;
  std::int64_t magnitude = 0;
  bool seen = false;
  bool fraction = false;
  const char* at = first;
  for (; at != last && *at != 'e' && *at != 'E'; ++at) {
    if (*at == '.') {
      fraction = true;
    } else if (*at != '0' || seen) {
      seen = true;
      if (!fraction) ++magnitude;
    } else if (fraction) {
      --magnitude;
    }
  }
  if (at != last) {
    ++at;
    if (at != last && *at == '+') ++at;
    const bool small = at != last && *at == '-';
    std::int64_t exponent = 0;
    const auto result = std::from_chars(at, last, exponent);
    if (result.ec == std::errc::result_out_of_range)
      magnitude = small ? -1 : 1;
    else
      magnitude +=
          std::clamp<std::int64_t>(exponent, -(std::int64_t{1} << 40), std::int64_t{1} << 40);
  }
  const double value = magnitude > 0 ? std::numeric_limits<double>::infinity() : 0.0;
  return negative ? -value : value;
}

bool goes_on(const char* at, const char* end) {
  return at != end && (*at == '.' || *at == 'e' || *at == 'E');
}

}  // namespace

DType dtype_of_kind(NumberKind kind) {
  switch (kind) {
    case NumberKind::boolean: return DType::boolean;
    case NumberKind::integer: return DType::i64;
    case NumberKind::real: return DType::f64;
  }
  TESSERA_INVARIANT(false, "kind {}", static_cast<int>(kind));
}

void Numbers::become(NumberKind kind) {
  if (kind <= kind_) return;
  if (kind == NumberKind::real)
    for (std::uint64_t& bits : bits_)
      bits = real_bits(static_cast<double>(static_cast<std::int64_t>(bits)));
  kind_ = kind;
}

void Numbers::copy(std::size_t first, std::size_t count, DType dtype, std::byte* into) const {
  visit_dtype(dtype, [&]<class T>() {
    if (std::is_same_v<T, double> && are_real()) {
      std::memcpy(into, bits_.data() + first, count * sizeof(double));
      return;
    }
    T* to = reinterpret_cast<T*>(into);
    for (std::size_t i = 0; i < count; ++i) {
      if constexpr (std::is_same_v<T, bool>)
        to[i] = are_real() ? real(first + i) != 0 : bits_[first + i] != 0;
      else if constexpr (std::is_same_v<T, std::int64_t>)
        to[i] = are_real() ? static_cast<std::int64_t>(real(first + i)) : integer(first + i);
      else
        to[i] = static_cast<T>(real(first + i));
    }
  });
}

bool read_number(const char*& at, const char* end, Numbers& into) {
  const char* first = at;
  if (first != end && *first == '+') {
    ++first;
    if (first != end && *first == '-') return false;
  }
  if (!into.are_real()) {
    std::int64_t value = 0;
    const auto [behind, problem] = std::from_chars(first, end, value);
    if (problem == std::errc() && !goes_on(behind, end)) {
      into.add_integer(value);
      at = behind;
      return true;
    }
  }
  double value = 0;
  const auto [behind, problem] = std::from_chars(first, end, value);
  if (problem == std::errc::invalid_argument) return false;
  into.add_real(problem == std::errc() ? value : out_of_range(first, behind));
  at = behind;
  return true;
}

bool read_index(const char*& at, const char* end, std::int64_t& into) {
  constexpr std::int64_t too_large = std::int64_t{1} << 62;  // extents are sums of them
  const char* behind = at;
  std::int64_t value = 0;
  while (behind != end && *behind >= '0' && *behind <= '9') {
    if (value > too_large / 10) return false;
    value = value * 10 + (*behind - '0');
    ++behind;
  }
  if (behind == at || value >= too_large) return false;
  at = behind;
  into = value;
  return true;
}

}  // namespace tessera::store
