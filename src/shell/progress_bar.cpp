#include "shell/progress_bar.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "base/bytes.h"
#include "display/display_width.h"
#include "shell/terminal.h"

namespace tessera::shell {
namespace {

using namespace std::chrono_literals;

constexpr auto patience = 1s;  // what is shorter needs no bar
constexpr auto step = 200ms;
constexpr int bar = 30;
constexpr const char* wiped = "\r\x1b[K";

std::string time_text(double seconds) {
  const std::int64_t whole = std::llround(std::clamp(seconds, 0.0, 1e12));
  if (whole < 120) return fmt::format("{} s", whole);
  if (whole < 7200) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

double fraction_done(const Progress& progress) {
  double part = 0;
  if (progress.flops > 0)
    part = progress.flops_done / progress.flops;
  else if (progress.tasks > 0)
    part = static_cast<double>(progress.tasks_done) / static_cast<double>(progress.tasks);
  part = std::clamp(part, 0.0, 1.0);
  return progress.frames > 0 ? (progress.frame - 1 + part) / progress.frames : part;
}

}  // namespace

std::string progress_text(const std::optional<Progress>& progress, double seconds, int width) {
  std::string text;
  if (progress) {
    const double part = fraction_done(*progress);
    const int filled = static_cast<int>(part * bar);
    text = fmt::format("[{}{}] {:3.0f}%", std::string(static_cast<std::size_t>(filled), '#'),
                       std::string(static_cast<std::size_t>(bar - filled), ' '), 100 * part);
    if (part > 0 && part < 1) text += fmt::format("  {} left", time_text(progress->seconds_left));
    if (progress->frames > 0)
      text += fmt::format("  frame {} of {}", progress->frame, progress->frames);
    text += "  " + bytes_text(progress->bytes_live);
  } else {
    text = fmt::format("running for {}", time_text(seconds));
  }
  return display::cut_to(text, std::max(1, width - 1));
}

ProgressBar::ProgressBar() {
  if (!is_terminal(STDERR_FILENO)) return;
  painter_ = std::jthread([this](const std::stop_token& ended) { paint(ended); });
}

void ProgressBar::paint(const std::stop_token& ended) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, ended, [this] { return !is_hidden_; })) {
    draw();
    (void)changed_.wait_for(lock, ended, step, [this] { return is_hidden_; });
  }
}

/// The mutex is held, here and below.
void ProgressBar::draw() {
  const auto passed = std::chrono::steady_clock::now() - start_;
  if (passed < patience) return;
  const int width = terminal_width(STDERR_FILENO);
  std::cerr << wiped
            << progress_text(progress_, std::chrono::duration<double>(passed).count(),
                             width > 0 ? width : 80)
            << std::flush;
  is_drawn_ = true;
}

void ProgressBar::wipe() {
  if (is_drawn_) std::cerr << wiped << std::flush;
  is_drawn_ = false;
}

void ProgressBar::hide() {
  const std::lock_guard lock(mutex_);
  wipe();
  is_hidden_ = true;
}

void ProgressBar::restart() {
  const std::lock_guard lock(mutex_);
  start_ = std::chrono::steady_clock::now();
  progress_.reset();
  is_hidden_ = false;
  changed_.notify_all();
}

std::function<void(const Progress&)> ProgressBar::listener() {
  if (!painter_.joinable()) return {};
  return [this](const Progress& progress) {
    const std::lock_guard lock(mutex_);
    progress_ = progress;
  };
}

}  // namespace tessera::shell
