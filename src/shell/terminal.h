#pragma once

#include <string>

namespace tessera::shell {

bool is_terminal(int descriptor);
/// Columns of the terminal; 0 if it is none, or does not say.
int terminal_width(int descriptor);
/// Whether it is a terminal that shows colours, and nobody minds: NO_COLOR is not set.
bool shows_colours(int descriptor);

/// Text in a colour, if there are colours.
struct Paint {
  static constexpr const char* bold = "\x1b[1m";
  static constexpr const char* faint = "\x1b[2m";
  static constexpr const char* red = "\x1b[1;31m";

  bool on;
  const char* how;
  std::string operator()(const std::string& text) const {
    return on && !text.empty() ? how + text + "\x1b[0m" : text;
  }
};

}  // namespace tessera::shell
