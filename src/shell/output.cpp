#include "shell/output.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>

#include "shell/terminal.h"
#include "tessera/error.h"

namespace tessera::shell {

void finish_standard_output() {
  std::cout.flush();
  if (std::cout) return;
  pollfd reader{STDOUT_FILENO, POLLOUT, 0};
  if (::poll(&reader, 1, 0) == 1 && (reader.revents & POLLERR) != 0) throw OutputClosed{};
  throw IoError("cannot write to the standard output");
}

std::ostream& Output::stream() { return file_ ? static_cast<std::ostream&>(*file_) : std::cout; }

void Output::to_file(const std::string& path) {
  if (is_muted_) return;
  to_standard_output();
  std::ofstream file(path, std::ios::binary);
  if (!file) throw IoError(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
  file_ = std::move(file);
  path_ = path;
}

void Output::to_standard_output() {
  if (!file_ || is_muted_) return;
  std::optional<std::ofstream> file;
  std::swap(file, file_);
  file->close();
  if (!*file) throw IoError(fmt::format("cannot write all output to {}", path_));
}

void Output::mute() {
  to_file("/dev/null");
  is_muted_ = true;
}

void Output::finish() {
  if (!file_) return finish_standard_output();
  file_->flush();
  if (!*file_) throw IoError(fmt::format("cannot write all output to {}", path_));
}

int Output::width() const { return file_ ? 0 : terminal_width(STDOUT_FILENO); }
bool Output::colours() const { return !file_ && shows_colours(STDOUT_FILENO); }

}  // namespace tessera::shell
