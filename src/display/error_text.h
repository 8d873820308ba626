#pragma once

#include <string>
#include <string_view>

#include "tessera/session.h"

namespace tessera::display {

/// Where a text comes from that is run.
struct Origin {
  std::string file = {};  // none: typed, or given on the command line
  int line = 1;           // where the text begins in it
};

/// What went wrong, the line of the text that it is about, and a mark below the place:
///
///   TypeError: there is no column nope; there are: x, y
///   script.sql:12: SELECT nope FROM t
///                         ^
///
/// Of a line that is wider than `width` (0: any), what is around the place.
std::string error_text(const StatementError& error, std::string_view text, const Origin& origin,
                       int width, bool colour);
/// An error that is about no place in a text.
std::string error_text(const Error& error, bool colour);

}  // namespace tessera::display
