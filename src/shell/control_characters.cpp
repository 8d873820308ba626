#include "shell/control_characters.h"

#include "base/characters.h"

namespace tessera::shell {

std::string without_control_characters(const std::string& text) {
  std::string shown;
  for (const char letter : text) {
    const bool stays = !is_control(letter) || letter == '\n' || letter == '\t';
    shown += stays ? std::string(1, letter) : escaped_byte(letter);
  }
  return shown;
}

}  // namespace tessera::shell
