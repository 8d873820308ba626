#pragma once

#include <chrono>
#include <mutex>

#include "tessera/formats.h"

namespace tessera {

/// Counts what an import or export has done, tells it from time to time, and looks for a stop. Any
/// thread may call.
class FileMeter {
 public:
  /// `bytes` of the file that is read, 0 if it is none.
  FileMeter(const FormatOptions& options, std::int64_t bytes);

  /// Interrupted if it is to stop.
  void advance(std::int64_t bytes, std::int64_t rows);
  /// The part that is done, where bytes of the file do not tell.
  void set_fraction(double fraction);
  /// The last news.
  FileProgress finish();

 private:
  using Clock = std::chrono::steady_clock;
  double seconds() const;
  void tell();

  const FormatOptions& options_;
  const Clock::time_point begin_ = Clock::now();
  std::mutex mutex_;
  FileProgress now_;
  double told_ = 0;
};

}  // namespace tessera
