#pragma once

#include <optional>
#include <string>

#include "base/file.h"

namespace tessera::session {

/// Held by the one process, and the one session in it, that computes a job. It goes with the
/// process that has it, so that a job whose process is gone can be taken over.
class JobLock {
 public:
  /// None if somebody else has it.
  static std::optional<JobLock> take(const std::filesystem::path& database, const std::string& job);
  /// The process that has it, for messages; none if nobody has.
  static std::optional<std::string> holder(const std::filesystem::path& database,
                                           const std::string& job);
  ~JobLock();
  JobLock(JobLock&& other) noexcept : file_(std::move(other.file_)) { other.file_.reset(); }
  JobLock& operator=(JobLock&&) = delete;

 private:
  explicit JobLock(File file) : file_(std::move(file)) {}
  std::optional<File> file_;
};

}  // namespace tessera::session
