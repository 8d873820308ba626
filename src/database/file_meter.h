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
  /// The last news, told while all can still be taken back. Interrupted if it is to stop.
  FileProgress finish();
  /// The last look before there is no way back.
  void look_for_stop() const;
  double seconds() const;
  std::int64_t rows() const;

 private:
  using Clock = std::chrono::steady_clock;
  void tell();
  void refuse_if_stopped() const;

  const FormatOptions& options_;
  const Clock::time_point begin_ = Clock::now();
  mutable std::mutex mutex_;
  FileProgress now_;
  double told_ = 0;
};

}  // namespace tessera
