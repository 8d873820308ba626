#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "tessera/tile.h"

namespace tessera::store {

/// A text file in the making. It takes the place of what has its name when it is committed; until
/// then it has another name, and goes with this.
class TextOutput {
 public:
  explicit TextOutput(const std::string& path);
  ~TextOutput();
  TextOutput(const TextOutput&) = delete;
  TextOutput& operator=(const TextOutput&) = delete;

  void put(char c) {
    if (used_ == buffer_.size()) flush();
    buffer_[used_++] = c;
  }
  void put(std::string_view text);
  void put_integer(std::int64_t value);
  void put_real(double value);  // the shortest text that reads back as the same
  /// An element of a contiguous dense tile, or the value of an entry of a sparse one.
  void put_element(const Tile& tile, std::int64_t position);

  void commit();
  /// Bytes put since this was asked last.
  std::int64_t take_written();

 private:
  void make_room(std::size_t bytes);
  void flush();

  std::filesystem::path path_, unfinished_;
  std::optional<File> file_;
  std::vector<char> buffer_;
  std::size_t used_ = 0;
  std::int64_t end_ = 0, told_ = 0;
};

}  // namespace tessera::store
