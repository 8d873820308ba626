#pragma once

#include <mutex>
#include <optional>

#include "store/record.h"

namespace tessera::exec {

/// Memory on disk: values that a run could not keep, in a file without a name that goes with the
/// process. It is made when something is first written. Several threads may use it. Tiles come back
/// as they lay in memory: a kernel may add up a transpose in another order than its copy, and
/// whether a value had to make room is a matter of luck.
class SpillFile {
 public:
  /// How a dense tile lay that was not row-major: its dimensions as they follow each other in
  /// memory, and its extents in that order.
  struct Layout {
    std::vector<std::int64_t> axes = {};
    Shape shape = {};
  };
  struct Copy {
    store::FileRange range = {};
    std::vector<Layout> layouts = {};  // by tile; without axes: as it is in the file
  };

  explicit SpillFile(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// IoError, with what can be done about it, if the folder has no room.
  Copy write(const std::vector<Tile>& tiles);
  std::vector<Tile> read(const Copy& copy) const;
  void forget(const Copy& copy);  // gives its room on disk back

 private:
  store::FileRange append(const std::vector<Tile>& tiles);

  const std::filesystem::path folder_;
  mutable std::mutex mutex_;
  std::optional<File> file_;
  std::int64_t end_ = 0;
};

}  // namespace tessera::exec
