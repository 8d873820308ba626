#include "exec/spill_file.h"

#include "base/check.h"

namespace tessera::exec {

store::Place SpillFile::write(const std::vector<Tile>& tiles) {
  try {
    return append(tiles);
  } catch (const IoError& error) {
    throw IoError(
        fmt::format("what does not fit into memory cannot be put into '{}': {}; choose another "
                    "temporary_folder (or TMPDIR), or allow more memory (memory_limit)",
                    folder_.string(), error.what()));
  }
}

store::Place SpillFile::append(const std::vector<Tile>& tiles) {
  const store::Record record = store::record_of({}, tiles, store::Compression::none);
  std::int64_t offset = 0;
  {
    const std::lock_guard lock(mutex_);
    if (!file_) file_ = File::temporary(folder_);
    offset = end_;
    end_ += (record.bytes + 4095) / 4096 * 4096;  // room is given back by the page
  }
  return store::write(*file_, offset, record);
}

std::vector<Tile> SpillFile::read(const store::Place& place) const {
  return store::read_tiles(*file_, place, {}, "what was spilled to disk");
}

void SpillFile::forget(const store::Place& place) { file_->discard(place.offset, place.bytes); }

}  // namespace tessera::exec
