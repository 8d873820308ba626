#pragma once

#include <iterator>
#include <span>
#include <string>

#include "base/file.h"
#include "base/odometer.h"
#include "store/formats/element.h"
#include "store/formats/tile_groups.h"

namespace tessera::store {

/// A dense array in a file. Its dimensions are named here in the order in which they lie there, the
/// last one fastest: of a column-major array, that is from its last dimension to its first.
struct StoredArray {
  Element element = {};
  Shape shape = {};
  bool column_major = false;

  /// TypeError, naming whose it is, if the rank or the size is beyond what there can be.
  void check(const std::string& what) const;
  std::int64_t bytes() const { return shape.elements() * size_of(element); }
};
template <class Numbers>
Numbers reversed(const Numbers& numbers) {
  return Numbers(std::make_reverse_iterator(numbers.end()),
                 std::make_reverse_iterator(numbers.begin()));
}

/// Where the elements of an array are read from.
class ArraySource {
 public:
  enum class Access { anywhere, one_at_a_time, in_order };

  ArraySource(StoredArray array, std::string what, Access access);
  virtual ~ArraySource() = default;
  ArraySource(const ArraySource&) = delete;
  ArraySource& operator=(const ArraySource&) = delete;

  const StoredArray& array() const { return array_; }
  const std::string& what() const { return what_; }  // the file, and which array of it
  Access access() const { return access_; }

  /// How much of the file the array takes, where it is compressed for instance.
  virtual std::int64_t bytes_in_file() const { return array_.bytes(); }
  /// Fills memory with the elements of a box, the last dimension fastest.
  virtual void read(const Box& box, std::byte* into) = 0;
  /// It is going to be read soon.
  virtual void start_reading(const Box&) {}
  /// All of it was read: the moment for a check of the whole.
  virtual void finish() {}

 private:
  const StoredArray array_;
  const std::string what_;
  const Access access_;
};

/// An array whose elements lie one after the other.
class SequentialArray : public ArraySource {
 public:
  using ArraySource::ArraySource;
  void read(const Box& box, std::byte* into) override;
  /// Bytes counted from the first element. With `Access::in_order`, from where the last read ended.
  virtual void read_bytes(std::int64_t offset, std::span<std::byte> into) = 0;
};

/// Such an array in a file of its own, after a head.
class FileArray : public SequentialArray {
 public:
  /// IoError if the file is shorter or longer than the array needs.
  FileArray(File file, std::int64_t head, StoredArray array, const std::string& what);
  void read_bytes(std::int64_t offset, std::span<std::byte> into) override;
  void start_reading(const Box& box) override;

 private:
  const File file_;
  const std::int64_t head_;
};

/// Calls `run(offset, position, count)` for what is contiguous, in elements: where it is in an
/// array of a shape, where in the box, and how long.
template <class Run>
void for_each_run(const Shape& shape, const Box& box, Run&& run) {
  const int rank = shape.rank();
  const Shape extents = box.shape();
  const std::int64_t all = extents.elements();
  if (all == 0) return;
  // Dimensions that are taken whole are contiguous with the one before them.
  int split = rank;
  std::int64_t length = 1;
  while (split > 0) {
    --split;
    length *= extents[split];
    if (extents[split] != shape[split]) break;
  }
  Index at(rank, 0);
  for (std::int64_t position = 0; position < all; position += length) {
    std::int64_t offset = 0;
    for (int d = 0; d < rank; ++d) offset = offset * shape[d] + box.begin[d] + at[d];
    run(offset, position, length);
    advance(at, extents, split);
  }
}

}  // namespace tessera::store
