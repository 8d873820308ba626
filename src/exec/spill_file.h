#pragma once

#include <mutex>
#include <optional>

#include "store/record.h"

namespace tessera::exec {

/// Memory on disk: values that a run could not keep, in a file without a name that goes with the
/// process. It is made when something is first written. Several threads may use it.
class SpillFile {
 public:
  explicit SpillFile(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// IoError, with what can be done about it, if the folder has no room.
  store::Place write(const std::vector<Tile>& tiles);
  std::vector<Tile> read(const store::Place& place) const;
  void forget(const store::Place& place);  // gives its room on disk back

 private:
  store::Place append(const std::vector<Tile>& tiles);

  const std::filesystem::path folder_;
  mutable std::mutex mutex_;
  std::optional<File> file_;
  std::int64_t end_ = 0;
};

}  // namespace tessera::exec
