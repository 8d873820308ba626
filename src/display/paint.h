#pragma once

#include <string>

namespace tessera::display {

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

}  // namespace tessera::display
