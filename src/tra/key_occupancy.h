#pragma once

#include <cstdint>
#include <vector>

#include "tra/key_image.h"

namespace tessera {

/// Which keys an image holds. Keys that lie close together are bits in a box around them; those of
/// a scattered image are found through a hash table of its rows.
class KeyOccupancy {
 public:
  explicit KeyOccupancy(const KeyImage& image);

  bool contains(const Key& key) const;
  std::int64_t distinct() const { return distinct_; }
  /// The first row whose key an earlier row has already, and that row; -1 if all keys differ.
  std::int64_t repeating_row() const { return repeating_row_; }
  std::int64_t repeated_row() const;
  /// The least and the greatest value of each component, of an image that is not empty.
  const Key& least() const { return least_; }
  const Key& greatest() const { return greatest_; }

 private:
  void fill_bits();
  void fill_table();
  void occupied_again(std::int64_t row) {
    if (repeating_row_ < 0) repeating_row_ = row;
  }
  template <class Equal>
  std::size_t find_slot(std::uint64_t hash, const Equal& equal) const;

  const KeyImage& image_;
  Key least_, greatest_;
  std::int64_t distinct_ = 0;
  std::int64_t repeating_row_ = -1;
  std::vector<std::uint64_t> strides_;  // of the box around the keys; empty if there is a table
  std::vector<std::uint64_t> bits_;
  std::vector<std::uint32_t> table_;  // a row plus one, or 0; a power of two of slots
};

}  // namespace tessera
