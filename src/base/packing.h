#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"

namespace tessera {

/// Numbers and texts as bytes, one after the other; numbers have the byte order of the machine.
class PackedWriter {
 public:
  template <class Number>
  PackedWriter& put(Number number) {
    static_assert(std::is_arithmetic_v<Number>);
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
    return *this;
  }
  /// An integer in as few bytes as it takes: one for -64 to 63, ten at most.
  PackedWriter& put_short(std::int64_t integer) {
    auto rest = (static_cast<std::uint64_t>(integer) << 1) ^
                static_cast<std::uint64_t>(integer >> 63);  // the sign goes to the last bit
    for (; rest >= 128; rest >>= 7) bytes_ += static_cast<char>(rest | 128);
    bytes_ += static_cast<char>(rest);
    return *this;
  }
  PackedWriter& put(std::string_view text) {
    put(static_cast<std::int64_t>(text.size()));
    bytes_ += text;
    return *this;
  }
  PackedWriter& put(const std::string& text) { return put(std::string_view(text)); }
  PackedWriter& put_bytes(std::string_view bytes) {  // as they are: the reader knows how many
    bytes_ += bytes;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }
  std::string take() { return std::exchange(bytes_, {}); }

 private:
  std::string bytes_;
};

/// Takes them back. IoError if there is less than is asked for.
class PackedReader {
 public:
  PackedReader(std::string_view bytes, std::string_view what) : rest_(bytes), what_(what) {}
  void require_done() const {
    TESSERA_REQUIRE(IoError, done(), "{} is damaged: {} bytes follow its end", what_, rest_.size());
  }
  std::string_view what() const { return what_; }
  bool done() const { return rest_.empty(); }
  template <class Number>
  Number number() {
    static_assert(std::is_arithmetic_v<Number>);
    Number value;
    std::memcpy(&value, next(sizeof value).data(), sizeof value);
    return value;
  }
  std::int64_t integer() { return number<std::int64_t>(); }
  std::int64_t short_integer() {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto part = static_cast<unsigned char>(next(1).front());
      TESSERA_REQUIRE(IoError, shift < 63 || part <= 1, "{} is damaged: an integer of {} bytes",
                      what_, shift / 7 + 1);
      value |= static_cast<std::uint64_t>(part & 127) << shift;
      if (part < 128) break;
    }
    return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
  }
  /// The same from 0 to below `end`.
  std::int64_t short_below(std::int64_t end) {
    const std::int64_t value = short_integer();
    TESSERA_REQUIRE(IoError, value >= 0 && value < end,
                    "{} is damaged: {} is not in the range 0 to {}", what_, value, end - 1);
    return value;
  }
  /// How many parts of at least a byte each follow.
  std::size_t short_count() {
    return static_cast<std::size_t>(short_below(static_cast<std::int64_t>(rest_.size()) + 1));
  }
  std::string text() {
    const std::int64_t bytes = integer();
    TESSERA_REQUIRE(IoError, bytes >= 0, "{} is damaged: a text with {} bytes", what_, bytes);
    return std::string(next(static_cast<std::size_t>(bytes)));
  }
  std::string_view rest() const { return rest_; }
  /// How many parts of at least so many bytes each follow.
  std::int64_t count(std::int64_t least_bytes) {
    const std::int64_t parts = integer();
    TESSERA_REQUIRE(IoError,
                    parts >= 0 && parts <= static_cast<std::int64_t>(rest_.size()) / least_bytes,
                    "{} is damaged: {} parts in {} bytes", what_, parts, rest_.size());
    return parts;
  }

 private:
  std::string_view next(std::size_t bytes) {
    TESSERA_REQUIRE(IoError, bytes <= rest_.size(), "{} is damaged: it ends {} bytes too early",
                    what_, bytes - rest_.size());
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }

  std::string_view rest_;
  std::string_view what_;
};

}  // namespace tessera
