#pragma once

#include <cstdint>
#include <vector>

#include "key/image.h"

namespace tessera {

/// Which keys an image holds. Keys that lie close together are bits in a box around them. Those of
/// a scattered image are found by bisection if they happen to be in order, which is then proof that
/// they differ, and else through a hash table of their rows.
class KeyOccupancy {
 public:
  explicit KeyOccupancy(const KeyImage& image);

  bool contains(const Key& key) const;
  std::int64_t distinct() const { return distinct_; }
  /// How many of the distinct keys have no negative component.
  std::int64_t proper() const { return distinct_ - improper_; }
  /// The first row whose key an earlier row has already, and that row; -1 if all keys differ.
  std::int64_t repeating_row() const { return repeating_row_; }
  std::int64_t repeated_row() const;
  /// The least and the greatest value of each component, of an image that is not empty.
  const Key& least() const { return least_; }
  const Key& greatest() const { return greatest_; }

 private:
  bool is_ascending() const;
  void fill_bits();
  void fill_table();
  bool table_contains(const Key& key) const;
  void count(std::int64_t row, bool is_new);
  std::uint64_t hash_of_row(std::int64_t row) const;

  const KeyImage& image_;
  Key least_, greatest_;
  std::int64_t distinct_ = 0;
  std::int64_t improper_ = 0;
  bool has_negatives_ = false;
  std::int64_t repeating_row_ = -1;
  std::vector<std::uint64_t> strides_;  // of the box around the keys
  std::vector<std::uint64_t> bits_;
  std::vector<std::uint32_t> table_;  // a row plus one, or 0; a power of two of slots
};

}  // namespace tessera
