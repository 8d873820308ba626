#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "tessera/error.h"

namespace tessera::lang {

/// Where in a text something stands: bytes from its beginning.
struct Location {
  int offset = 0;
};

/// Lines and columns count from 1; a column is a character, however many bytes it has.
struct LineColumn {
  int line = 1, column = 1;
};
LineColumn line_and_column(std::string_view text, Location location);

/// An error of any kind that knows the location in the text that it is about.
class ErrorAt : public Error {
 public:
  ErrorAt(const char* kind, Location where, const std::string& message)
      : Error(kind, message), location(where) {}
  Location location;
};

template <class... Values>
[[noreturn]] void fail_parse(Location at, fmt::format_string<Values...> text, Values&&... values) {
  throw ErrorAt("ParseError", at, fmt::format(text, std::forward<Values>(values)...));
}
template <class... Values>
[[noreturn]] void fail_type(Location at, fmt::format_string<Values...> text, Values&&... values) {
  throw ErrorAt("TypeError", at, fmt::format(text, std::forward<Values>(values)...));
}

/// What `work` yields; an error that it throws is said to be about this location, unless it knows
/// better.
template <class Work>
auto at_location(Location location, const Work& work) {
  try {
    return work();
  } catch (const ErrorAt&) {
    throw;
  } catch (const Error& error) {
    throw ErrorAt(error.kind(), location, error.what());
  }
}

/// The same for work on the text of a definition elsewhere, whose places mean nothing here: an
/// error says whose it is.
template <class Work>
auto in_other_text(const std::string& whose, Location here, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    const std::string message = error.what();
    throw ErrorAt(error.kind(), here,
                  message.starts_with("in ") ? message : fmt::format("in {}: {}", whose, message));
  }
}

}  // namespace tessera::lang
