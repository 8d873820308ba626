#include "database/file_meter.h"

#include <algorithm>

#include "base/check.h"

namespace tessera {

FileMeter::FileMeter(const FormatOptions& options, std::int64_t bytes) : options_(options) {
  now_.bytes = bytes;
}

double FileMeter::seconds() const {
  return std::chrono::duration<double>(Clock::now() - begin_).count();
}

std::int64_t FileMeter::rows() const {
  const std::lock_guard lock(mutex_);
  return now_.rows;
}

void FileMeter::advance(std::int64_t bytes, std::int64_t rows) {
  const std::lock_guard lock(mutex_);
  now_.bytes_done += bytes;
  now_.rows += rows;
  if (now_.bytes > 0) {
    // What a compressed file says of its length is not exact.
    now_.bytes_done = std::min(now_.bytes_done, now_.bytes);
    now_.fraction = static_cast<double>(now_.bytes_done) / static_cast<double>(now_.bytes);
  }
  refuse_if_stopped();
  if (options_.progress && seconds() - told_ >= options_.progress_seconds) tell();
}

void FileMeter::set_fraction(double fraction) {
  const std::lock_guard lock(mutex_);
  now_.fraction = std::min(1.0, std::max(now_.fraction, fraction));
}

FileProgress FileMeter::finish() {
  const std::lock_guard lock(mutex_);
  if (now_.bytes > 0) now_.bytes_done = now_.bytes;
  now_.fraction = 1;
  now_.seconds = seconds();
  if (options_.progress) tell();
  refuse_if_stopped();
  return now_;
}

void FileMeter::look_for_stop() const {
  const std::lock_guard lock(mutex_);
  refuse_if_stopped();
}

/// The lock is held.
void FileMeter::refuse_if_stopped() const {
  TESSERA_REQUIRE(Interrupted, !options_.stop.stop_requested(),
                  "stopped after {} rows; no changes were saved", now_.rows);
}

/// The lock is held, so that nobody else tells anything meanwhile.
void FileMeter::tell() {
  now_.seconds = told_ = seconds();
  options_.progress(now_);
}

}  // namespace tessera
