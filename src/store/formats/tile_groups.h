#pragma once

#include "tessera/key.h"
#include "tessera/tile.h"

namespace tessera::store {

/// A box of elements.
struct Box {
  Shape begin, end;
  Shape shape() const;
  Box seen_from(const Shape& corner) const;  // counted from there
};

/// From this on a read or write of contiguous bytes costs little more than the copy of them.
inline constexpr std::int64_t long_run = 4 << 10;

/// How a dense array that lies in a file, the last dimension fastest, is cut into tiles, and which
/// of them are read or written together: so many neighbours that what is contiguous in the file is
/// long enough to be worth a call of the system, or as many as memory allows.
class TileGroups {
 public:
  struct Sizes {
    std::int64_t element = 0;  // bytes
    std::int64_t run = 0;      // how much should be contiguous
    std::int64_t group = 0;    // what a group of more than one tile may take at most
    bool slabs = false;        // all tiles that share the first index, whatever they take
  };
  TileGroups(const Shape& shape, const Shape& tile, const Sizes& sizes);

  std::int64_t count() const { return count_; }
  /// The tiles of a group: keys from `first` on, below `end`.
  struct Group {
    Key first, end;
    bool is_one_tile() const;
    bool step(Key& key) const;  // to the next one; false after the last
  };
  Group operator[](std::int64_t i) const;  // in the order of the file
  bool begins_slab(std::int64_t i) const { return i % in_slab_ == 0; }
  bool are_slabs() const { return in_slab_ == 1; }

  Box box_of(const Group& group) const;
  Box box_of(const Key& key) const;
  Box slab_of(const Group& group) const;  // all that shares its first indices
  std::int64_t most_elements() const;     // of a group

 private:
  Shape shape_, tile_;
  Key frontier_;  // in tiles
  Key extent_;    // of a group, in tiles
  Key groups_;    // along each dimension
  std::int64_t count_ = 1, in_slab_ = 1;
};

/// How many tiles lie along each dimension: one, empty, where there are no elements. TypeError if
/// the tile does not fit the array's rank, or there would be too many of them.
Key frontier_of(const Shape& shape, const Shape& tile);

}  // namespace tessera::store
