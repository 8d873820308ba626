#include "support/sealed_record.h"

#include <xxhash.h>

#include <cstring>

namespace tessera::hostile {
namespace {

/// As records begin: how many words and pieces they have, and a checksum of all before the pieces.
struct Head {
  std::uint32_t magic, compressed;
  std::int64_t words, pieces, stored;
  std::uint64_t check;
};

}  // namespace

std::vector<std::byte> bytes_of(const File& file, const store::FileRange& place) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(place.bytes));
  file.read(place.offset, bytes);
  return bytes;
}

std::uint64_t seal(std::vector<std::byte>& record) {
  Head head;
  if (record.size() >= sizeof head) {
    std::memcpy(&head, record.data(), sizeof head);
    const auto most = static_cast<std::int64_t>(record.size() / 8);
    if (head.words >= 0 && head.pieces >= 0 && head.words <= most && head.pieces <= most) {
      head.check = 0;
      std::memcpy(record.data(), &head, sizeof head);
      const std::size_t before =
          sizeof head + 8 * static_cast<std::size_t>(head.words + head.pieces);
      head.check = XXH3_64bits(record.data(), std::min(before, record.size()));
      std::memcpy(record.data(), &head, sizeof head);
    }
  }
  return XXH3_64bits(record.data(), record.size());
}

store::Address append(const std::filesystem::path& database, std::int64_t segment,
                      std::vector<std::byte> record) {
  const std::uint64_t checksum = seal(record);
  File file = File::open_to_write(store::segment_path(database, segment));
  const std::int64_t at = (file.size() + 7) / 8 * 8;
  file.write(at, record);
  return {segment, {at, static_cast<std::int64_t>(record.size()), checksum}};
}

void count_appended(const std::filesystem::path& database, store::Catalog& catalog) {
  std::map<std::int64_t, std::int64_t> lengths;
  for (const auto& [segment, length] : catalog.segments())
    lengths[segment] = File::open(store::segment_path(database, segment)).size();
  catalog.set_segments(lengths);
}

}  // namespace tessera::hostile
