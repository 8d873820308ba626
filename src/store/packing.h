#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/check.h"

namespace tessera::store {

/// Numbers and texts as bytes, one after the other; numbers have the byte order of the machine.
class PackedWriter {
 public:
  template <class Number>
  PackedWriter& put(Number number) {
    static_assert(std::is_arithmetic_v<Number>);
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
    return *this;
  }
  PackedWriter& put(std::string_view text) {
    put(static_cast<std::int64_t>(text.size()));
    bytes_ += text;
    return *this;
  }
  PackedWriter& put(const std::string& text) { return put(std::string_view(text)); }
  const std::string& bytes() const { return bytes_; }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Takes them back. IoError if there is less than is asked for.
class PackedReader {
 public:
  PackedReader(std::string_view bytes, std::string_view what) : rest_(bytes), what_(what) {}
  bool done() const { return rest_.empty(); }
  template <class Number>
  Number number() {
    static_assert(std::is_arithmetic_v<Number>);
    Number value;
    std::memcpy(&value, next(sizeof value).data(), sizeof value);
    return value;
  }
  std::int64_t integer() { return number<std::int64_t>(); }
  std::string text() {
    const std::int64_t bytes = integer();
    TESSERA_REQUIRE(IoError, bytes >= 0, "{} is damaged: a text of {} bytes", what_, bytes);
    return std::string(next(static_cast<std::size_t>(bytes)));
  }
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

}  // namespace tessera::store
