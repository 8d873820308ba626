#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/file.h"
#include "tessera/key.h"
#include "tessera/tile.h"

namespace tessera::store {

/// Where a record lies in a file, and what it must hash to.
struct FileRange {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  std::uint64_t checksum = 0;
  friend bool operator==(const FileRange&, const FileRange&) = default;
};

/// Bytes on their way to a file: some of our own, then pieces of somebody else's memory.
struct Record {
  std::vector<std::byte> head;
  std::vector<std::span<const std::byte>> payload;
  std::shared_ptr<const void> keeps;
  std::int64_t bytes = 0;
};

enum class Compression { none, zstd };

/// The tiles of a tuple. The tiles' memory is not copied unless it is compressed, or not
/// contiguous; what does not shrink by compression is left as it is.
Record record_of(const Key& key, const std::vector<Tile>& tiles, Compression compression);
/// A list of numbers, as the directories of segments are.
Record record_of(const std::vector<std::int64_t>& numbers);

/// Writes a record at a place of a file.
FileRange write(File& file, std::int64_t offset, const Record& record);

/// Reads back what was written. IoError if the bytes are not those that were written: `what` says
/// in the message whose they are. The tiles' memory is filled straight from the file.
std::vector<Tile> read_tiles(const File& file, const FileRange& range, const Key& key,
                             const std::string& what);
std::vector<std::int64_t> read_numbers(const File& file, const FileRange& range,
                                       const std::string& what);

}  // namespace tessera::store
