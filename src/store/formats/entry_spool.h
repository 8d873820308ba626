#pragma once

#include <functional>
#include <optional>

#include "base/file.h"
#include "store/formats/entries.h"

namespace tessera::store {

/// Entries that wait until all have been seen, because only then the extents of the tensor, its
/// dtype and so its tiles are known. What the memory has no room for waits in a temporary file.
class EntrySpool {
 public:
  EntrySpool(int rank, std::int64_t memory);

  void add(const Entries& entries);
  /// Hands them on in the order they came, once.
  void replay(const std::function<void(Entries&)>& to);

  int rank() const { return rank_; }
  std::int64_t size() const { return size_; }
  NumberKind kind() const { return kind_; }
  const Shape& least() const { return least_; }  // of each coordinate; 0 if there are no entries
  const Shape& extents() const { return extents_; }  // one more than the largest
 private:
  struct Chunk {
    std::int64_t offset = 0, entries = 0;
    NumberKind kind = NumberKind::boolean;
  };
  void write_out();

  const int rank_;
  const std::int64_t room_;
  std::int64_t size_ = 0, end_ = 0;
  NumberKind kind_ = NumberKind::boolean;
  Shape least_, extents_;
  std::vector<Entries> held_;
  std::int64_t held_bytes_ = 0;
  std::vector<Chunk> chunks_;
  std::optional<File> file_;
};

}  // namespace tessera::store
