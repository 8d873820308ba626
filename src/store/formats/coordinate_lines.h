#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "store/formats/numbers.h"
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
  /// A number that counts `what`, and then a blank or the end.
  std::int64_t size(const char* what) {
    skip();
    std::int64_t value = 0;
    if (!read_index(at, end, value) || (!done() && !is_blank(*at)))
      fail(fmt::format("expected the number of {}, less than 2^62, not {}", what, shown(word())));
    return value;
  }
  [[noreturn]] void fail(const std::string& reason) const {
    fail_at(file, line, at - begin + 1, reason);
  }
};

}  // namespace tessera::store
