#pragma once

#include <string>
#include <string_view>

#include "store/formats/text_blocks.h"
#include "store/formats/text_place.h"

namespace tessera::store {

/// A line under way from its begin to its end, with the means to say what is wrong where.
struct LineCursor {
  const std::string& file;
  std::int64_t line;
  const char* begin;
  const char* at;
  const char* end;

  LineCursor(const std::string& in, std::string_view text, std::int64_t number)
      : file(in), line(number), begin(text.data()), at(begin), end(begin + text.size()) {}

  void skip() { skip_blanks(at, end); }
  bool done() const { return at == end; }
  /// What stands here up to a blank.
  std::string_view word() const {
    const char* stop = at;
    while (stop != end && !is_blank(*stop)) ++stop;
    return {at, static_cast<std::size_t>(stop - at)};
  }
  [[noreturn]] void fail(const std::string& reason) const {
    fail_at(file, line, at - begin + 1, reason);
  }
};

}  // namespace tessera::store
