#pragma once

#include <stop_token>

#include "base/file.h"

namespace tessera {

/// Held by the one statement that writes to a database, of all threads and processes. It goes with
/// the process that has it. IoError, naming who writes, if it is not free after some seconds;
/// Interrupted if it is to stop before.
class WriteLock {
 public:
  WriteLock(const std::filesystem::path& database, double seconds,
            const std::stop_token& stop = {});
  ~WriteLock();
  WriteLock(const WriteLock&) = delete;
  WriteLock& operator=(const WriteLock&) = delete;

 private:
  File file_;
};

}  // namespace tessera
