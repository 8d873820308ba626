#include "shell/control_characters.h"

#include <fmt/format.h>

namespace tessera::shell {

std::string without_control_characters(const std::string& text) {
  std::string shown;
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    const bool control = (code < ' ' && letter != '\n' && letter != '\t') || code == 127;
    shown += control ? fmt::format("\\x{:02x}", code) : std::string(1, letter);
  }
  return shown;
}

}  // namespace tessera::shell
