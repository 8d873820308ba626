#include "shell/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace tessera::shell {

bool is_terminal(int descriptor) { return ::isatty(descriptor) != 0; }

int terminal_width(int descriptor) {
  winsize size{};
  if (!is_terminal(descriptor) || ::ioctl(descriptor, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

bool shows_colours(int descriptor) {
  const char* unwanted = std::getenv("NO_COLOR");
  const char* kind = std::getenv("TERM");
  return is_terminal(descriptor) && (unwanted == nullptr || *unwanted == '\0') && kind != nullptr &&
         std::string_view(kind) != "dumb";
}

}  // namespace tessera::shell
