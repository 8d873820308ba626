#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "store/formats/postgresql_connection.h"

// The binary form of PostgreSQL's COPY: big-endian, each field with its length before it.

namespace tessera::store {

template <class T>
T from_big_endian(const char* bytes) {
  std::make_unsigned_t<T> value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    value = static_cast<std::make_unsigned_t<T>>((std::uint64_t{value} << 8) |
                                                 static_cast<unsigned char>(bytes[i]));
  return static_cast<T>(value);
}

template <class T>
void put_big_endian(std::string& into, T value) {
  for (std::size_t i = sizeof(T); i-- > 0;)
    into += static_cast<char>(static_cast<std::make_unsigned_t<T>>(value) >> (8 * i));
}

/// Bytes that are read from the front. What is not there is an IoError.
class CopyBytes {
 public:
  CopyBytes(const PostgresConnection& connection, std::string_view bytes)
      : connection_(&connection), rest_(bytes) {}
  bool done() const { return rest_.empty(); }
  std::string_view take(std::size_t count) {
    if (rest_.size() < count) connection_->fail("the server sent an incomplete row");
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  template <class T>
  T integer() {
    return from_big_endian<T>(take(sizeof(T)).data());
  }
  /// A field; none if it is NULL.
  std::optional<std::string_view> field() {
    const auto length = integer<std::int32_t>();
    if (length < 0) return std::nullopt;
    return take(static_cast<std::size_t>(length));
  }

 private:
  const PostgresConnection* connection_;
  std::string_view rest_;
};

/// Runs COPY (query) TO STDOUT, and reads row after row.
class CopyRows {
 public:
  CopyRows(PostgresConnection& connection, const std::string& query);
  /// The fields of the next row; none after the last.
  std::optional<CopyBytes> next();

 private:
  PostgresConnection& connection_;
  bool begun_ = false, ended_ = false;
};

/// Fields in the making, each with its length before it.
struct CopyFields {
  std::string bytes;
  template <class T>
  void put_integer(T value) {
    put_big_endian(bytes, static_cast<std::int32_t>(sizeof(T)));
    put_big_endian(bytes, value);
  }
  void put(double value) { put_integer(std::bit_cast<std::int64_t>(value)); }
  void put(float value) { put_integer(std::bit_cast<std::int32_t>(value)); }
  void put(std::int64_t value) { put_integer(value); }
  void put(bool value) { put_integer(static_cast<std::int8_t>(value)); }
  void put(std::string_view field) {
    put_big_endian(bytes, static_cast<std::int32_t>(field.size()));
    bytes += field;
  }
};

/// Runs COPY table FROM STDIN.
class CopyOutput {
 public:
  CopyOutput(PostgresConnection& connection, const std::string& table);
  /// A row begins; its fields are to be put.
  CopyFields& begin_row(int fields) {
    put_big_endian(row_.bytes, static_cast<std::int16_t>(fields));
    return row_;
  }
  /// Sends what there is if that is much; the bytes sent.
  std::int64_t end_row();
  void finish();

 private:
  std::int64_t send();

  PostgresConnection& connection_;
  CopyFields row_;
};

}  // namespace tessera::store
