#include "shell/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <iostream>

namespace tessera::shell {
namespace {

constexpr const char* wipe = "\r\x1b[K";

}  // namespace

std::string progress_text(const FileProgress& progress) {
  std::string text;
  if (progress.fraction > 0) text += fmt::format("{:.0f}%  ", 100 * progress.fraction);
  text += fmt::format("{} rows", progress.rows);
  if (progress.seconds > 0)
    text += fmt::format("  {:.0f} rows/s", static_cast<double>(progress.rows) / progress.seconds);
  if (progress.fraction > 0 && progress.fraction < 1)
    text += fmt::format("  {:.0f} s left", progress.seconds / progress.fraction - progress.seconds);
  return text;
}

ProgressLine::ProgressLine() : shown_(::isatty(STDERR_FILENO) != 0) {}

ProgressLine::~ProgressLine() {
  if (shown_) std::cerr << wipe << std::flush;
}

std::function<void(const FileProgress&)> ProgressLine::listener() {
  if (!shown_) return {};
  return [](const FileProgress& progress) {
    std::cerr << wipe << progress_text(progress) << std::flush;
  };
}

}  // namespace tessera::shell
