#pragma once

#include <bit>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tessera/tile.h"

namespace tessera::store {

/// What numbers in a text need to be held: each kind holds those before it.
enum class NumberKind : std::uint8_t { boolean, integer, real };
DType dtype_of_kind(NumberKind kind);

/// A list of numbers in 8 bytes each. They are integers until one comes that is none: then all of
/// them are reals, as they would have been if they had been read as such.
class Numbers {
 public:
  NumberKind kind() const { return kind_; }
  bool are_real() const { return kind_ == NumberKind::real; }
  std::size_t size() const { return bits_.size(); }
  bool empty() const { return bits_.empty(); }
  void reserve(std::size_t count) { bits_.reserve(count); }
  void clear() {
    bits_.clear();
    kind_ = NumberKind::boolean;
  }

  void add_boolean(bool value) { bits_.push_back(are_real() ? real_bits(value) : value); }
  void add_integer(std::int64_t value) {
    if (kind_ == NumberKind::boolean) kind_ = NumberKind::integer;
    bits_.push_back(are_real() ? real_bits(static_cast<double>(value))
                               : static_cast<std::uint64_t>(value));
  }
  void add_real(double value) {
    if (!are_real()) become(NumberKind::real);
    bits_.push_back(real_bits(value));
  }
  void remove_last() { bits_.pop_back(); }
  /// At least this kind from here on.
  void become(NumberKind kind);

  std::int64_t integer(std::size_t i) const { return static_cast<std::int64_t>(bits_[i]); }
  double real(std::size_t i) const {
    return are_real() ? std::bit_cast<double>(bits_[i]) : static_cast<double>(integer(i));
  }
  /// `count` of them from `first` on, as another dtype.
  void copy(std::size_t first, std::size_t count, DType dtype, std::byte* into) const;

  /// As they lie in memory, for a file of our own.
  const std::vector<std::uint64_t>& bits() const { return bits_; }
  void restore(std::vector<std::uint64_t> bits, NumberKind kind) {
    bits_ = std::move(bits);
    kind_ = kind;
  }

 private:
  static std::uint64_t real_bits(double value) { return std::bit_cast<std::uint64_t>(value); }
  NumberKind kind_ = NumberKind::boolean;
  std::vector<std::uint64_t> bits_;
};

/// Reads the number that a text begins with, and moves `at` behind it. False, and nothing moved, if
/// it begins with none. Integers of up to 63 bits are integers, all others reals; a sign +, nan and
/// inf are known; what is too large for a double is infinite, as in NumPy.
bool read_number(const char*& at, const char* end, Numbers& into);

/// Reads an integer that is not negative, alike: a coordinate. Too large is false, too.
bool read_index(const char*& at, const char* end, std::int64_t& into);

}  // namespace tessera::store
