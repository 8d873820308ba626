#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "tessera/run.h"

namespace tessera::shell {

/// How far a statement is, `seconds` after it began: "[#####     ]  45%  12 s left  512 MB", with
/// "frame 3 of 7" in between if it has frames. Where nothing is known of it yet, how long it has
/// taken.
std::string progress_text(const std::optional<Progress>& progress, double seconds, int width);

/// One line on the standard error that says how far a statement is, from its second second on.
/// Only a terminal gets it. Hidden until a statement begins; one serves all that a shell runs, as
/// its thread takes longer to start than a small statement.
class ProgressBar {
 public:
  ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  std::function<void(const Progress&)> listener();  // none if it is no terminal
  /// Wiped, and not drawn again: rows are written, or nothing runs.
  void hide();
  /// The next statement begins: its time starts now.
  void restart();

 private:
  void paint(const std::stop_token& ended);
  void draw();
  void wipe();

  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<Progress> progress_;
  bool is_drawn_ = false, is_hidden_ = true;
  std::jthread painter_;  // a task may be long: the line goes on without its report
};

}  // namespace tessera::shell
