#pragma once

#include <functional>

#include "tessera/formats.h"

namespace tessera::shell {

/// One line on the standard error that says how far a file is: "45%  1234567 rows  250000 rows/s
/// 12 s left". Only a terminal gets it; it is wiped when this dies.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  std::function<void(const FileProgress&)> listener();  // none if it is no terminal

 private:
  const bool shown_;
};
std::string progress_text(const FileProgress& progress);

}  // namespace tessera::shell
