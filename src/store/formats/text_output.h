#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "store/formats/format.h"
#include "tessera/tile.h"

namespace tessera::store {

/// A text file in the making, written in large pieces.
class TextOutput {
 public:
  explicit TextOutput(const OutputFile& to);

  void put(char c) {
    if (used_ == buffer_.size()) flush();
    buffer_[used_++] = c;
  }
  void put(std::string_view text);
  void put_integer(std::int64_t value);
  /// An element of a contiguous dense tile, or the value of an entry of a sparse one: the shortest
  /// text that reads back as the same.
  void put_element(const Tile& tile, std::int64_t position);

  void finish() { flush(); }
  /// Bytes put since this was asked last.
  std::int64_t take_written();

 private:
  void make_room(std::size_t bytes);
  void flush();

  File file_;
  std::vector<char> buffer_;
  std::size_t used_ = 0;
  std::int64_t end_ = 0, told_ = 0;
};

}  // namespace tessera::store
