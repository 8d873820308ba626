#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/outside.h"
#include "tessera/formats.h"

namespace tessera::store {

/// Whole lines of a file. The last line of the file may lack its end.
struct TextBlock {
  std::string_view text;
  std::int64_t first_line = 1;
  std::int64_t bytes = 0;  // of the file, with a byte order mark
};

/// A file of lines, read in blocks that are cut between lines. A line longer than a block makes a
/// block of its own.
class TextFile {
 public:
  explicit TextFile(const InputFile& input);

  const std::string& path() const { return path_; }  // as it was given
  std::int64_t size() const { return size_; }
  /// The first lines: about so many bytes, at least one line.
  TextBlock head(std::int64_t bytes, std::vector<char>& buffer) const;
  /// Lines are read from here on; the first of them has this number.
  void go_to(std::int64_t offset, std::int64_t line);
  /// The next block of about so many bytes; false at the end. The text lies in the buffer.
  bool next(std::int64_t bytes, std::vector<char>& buffer, TextBlock& block);

 private:
  std::int64_t fill(std::int64_t offset, std::int64_t bytes, std::vector<char>& buffer) const;

  std::string path_;
  File file_;
  std::int64_t size_ = 0;
  std::int64_t mark_ = 0;  // bytes of the byte order mark
  std::int64_t offset_ = 0;
  std::int64_t line_ = 1;
};

/// Looks at a block, and returns what is to be done with what it found.
using ReadBlock = std::function<std::function<void()>(const TextBlock&)>;

/// Calls `read` for every block that is left, on several threads at once; what it returns is called
/// in the order of the blocks, never two at once. So is an error that it throws thrown: the first
/// in the file, whoever came upon it first.
void for_each_block(TextFile& file, const FormatOptions& options, const ReadBlock& read);

/// Calls `line(text, number)` for each line of a block, without its end.
template <class Line>
void for_each_line(const TextBlock& block, Line&& line) {
  std::int64_t number = block.first_line;
  std::string_view rest = block.text;
  while (!rest.empty()) {
    const std::size_t newline = rest.find('\n');
    std::string_view text = rest.substr(0, newline);
    rest.remove_prefix(newline == std::string_view::npos ? rest.size() : newline + 1);
    if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
    line(text, number++);
  }
}

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }
inline void skip_blanks(const char*& at, const char* end) {
  while (at != end && is_blank(*at)) ++at;
}

}  // namespace tessera::store
