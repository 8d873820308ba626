#include "store/formats/copy_rows.h"

namespace tessera::store {
namespace {

constexpr std::string_view signature("PGCOPY\n\377\r\n\0", 11);

}  // namespace

CopyRows::CopyRows(PostgresConnection& connection, const std::string& query)
    : connection_(connection) {
  connection.begin_reading("COPY (" + query + ") TO STDOUT (FORMAT BINARY)");
}

std::optional<CopyBytes> CopyRows::next() {
  std::string_view message;
  while (connection_.next(message)) {
    CopyBytes bytes(connection_, message);
    if (!begun_) {
      if (bytes.take(signature.size()) != signature)
        connection_.fail("the server did not send data in the binary COPY format");
      (void)bytes.integer<std::int32_t>();  // flags
      (void)bytes.take(static_cast<std::size_t>(bytes.integer<std::int32_t>()));
      begun_ = true;
      if (bytes.done()) continue;
    }
    const auto fields = bytes.integer<std::int16_t>();
    ended_ = ended_ || fields < 0;
    if (!ended_) return bytes;
  }
  if (!ended_) connection_.fail("the data from the server ended too early");
  return std::nullopt;
}

CopyOutput::CopyOutput(PostgresConnection& connection, const std::string& table)
    : connection_(connection), row_{std::string(signature)} {
  connection.begin_writing("COPY " + table + " FROM STDIN (FORMAT BINARY)");
  row_.bytes.append(8, '\0');  // no flags, no extension
}

std::int64_t CopyOutput::send() {
  connection_.send(row_.bytes);
  const auto sent = static_cast<std::int64_t>(row_.bytes.size());
  row_.bytes.clear();
  return sent;
}

std::int64_t CopyOutput::end_row() {
  constexpr std::size_t much = 1 << 17;
  return row_.bytes.size() < much ? 0 : send();
}

void CopyOutput::finish() {
  put_big_endian(row_.bytes, std::int16_t{-1});
  (void)send();
  connection_.end_writing();
}

}  // namespace tessera::store
