#pragma once

#include <memory>

#include "store/directory.h"
#include "store/string_block.h"

namespace tessera {

/// Appends records to the segments of a database, compressed or not. What is not kept is taken back
/// in the end.
class Appender {
 public:
  Appender(std::unique_ptr<store::SegmentWriter> segments, store::Compression compression)
      : segments_(std::move(segments)), compression_(compression) {}

  /// Appends the tiles of a tuple; any thread may.
  store::Entry append(const Key& key, const std::vector<Tile>& tiles);
  /// Appends a directory of what was appended.
  store::Address append(const store::Directory& directory);
  /// Appends strings that tuples hold the codes of.
  store::Address append(const store::Strings& strings);

  store::SegmentWriter& segments() { return *segments_; }

 private:
  std::unique_ptr<store::SegmentWriter> segments_;
  store::Compression compression_;
};

}  // namespace tessera
