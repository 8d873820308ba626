#pragma once

#include <sys/types.h>

#include <optional>

#include "base/file.h"

namespace tessera {

/// A folder that goes with the last process that has it. Each of them has a shared lock on it,
/// which goes with the process too: so a folder that nobody has locked was left by those who were
/// killed.
class TemporaryFolder {
 public:
  /// A new one, under what TMPDIR says, or else /var/tmp. Those that were left there are removed.
  static TemporaryFolder make();
  /// The one that another process has made. IoError if it is gone.
  static TemporaryFolder join(const std::filesystem::path& path);

  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();

  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  explicit TemporaryFolder(File folder);

  File folder_;
  pid_t owner_;  // not one that this process has forked
};

}  // namespace tessera
