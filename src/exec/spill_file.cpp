#include "exec/spill_file.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace tessera::exec {
namespace {

using Layout = SpillFile::Layout;

/// The tile with its dimensions as they lie in memory, and without repetition where a step moves
/// nowhere. A tile with gaps stays as it is.
Tile in_order_of_memory(const Tile& tile, Layout& layout) {
  if (tile.is_sparse() || tile.is_contiguous() || tile.elements() == 0) return tile;
  const Strides& strides = tile.strides();
  std::vector<std::int64_t> axes(static_cast<std::size_t>(tile.rank()));
  std::iota(axes.begin(), axes.end(), 0);
  std::stable_sort(axes.begin(), axes.end(),
                   [&](std::int64_t a, std::int64_t b) { return strides[a] > strides[b]; });
  const Tile ordered = tile.permute(axes);
  Index end(ordered.shape().begin(), ordered.shape().end());
  for (std::size_t d = 0; d < end.size(); ++d)
    if (ordered.strides()[d] == 0) end[d] = 1;
  const Tile once = ordered.slice(Index(end.size(), 0), end);
  if (!once.is_contiguous()) return tile;
  layout = {std::move(axes), ordered.shape()};
  return once;
}

Tile as_it_lay(const Tile& tile, const Layout& layout) {
  if (layout.axes.empty()) return tile;
  std::vector<std::int64_t> back(layout.axes.size());
  for (std::size_t d = 0; d < back.size(); ++d)
    back[static_cast<std::size_t>(layout.axes[d])] = static_cast<std::int64_t>(d);
  return tile.broadcast(layout.shape).permute(back);
}

}  // namespace

SpillFile::Copy SpillFile::write(const std::vector<Tile>& tiles) {
  Copy copy;
  copy.layouts.resize(tiles.size());
  std::vector<Tile> ordered;
  for (std::size_t t = 0; t < tiles.size(); ++t)
    ordered.push_back(in_order_of_memory(tiles[t], copy.layouts[t]));
  try {
    copy.range = append(ordered);
    return copy;
  } catch (const IoError& error) {
    throw IoError(
        fmt::format("cannot spill data to '{}': {}; choose another temporary_folder (or TMPDIR), "
                    "or raise memory_limit",
                    folder_.string(), error.what()));
  }
}

store::FileRange SpillFile::append(const std::vector<Tile>& tiles) {
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

std::vector<Tile> SpillFile::read(const Copy& copy) const {
  std::vector<Tile> tiles = store::read_tiles(*file_, copy.range, {}, "the spilled data");
  for (std::size_t t = 0; t < tiles.size(); ++t) tiles[t] = as_it_lay(tiles[t], copy.layouts[t]);
  return tiles;
}

void SpillFile::forget(const Copy& copy) { file_->discard(copy.range.offset, copy.range.bytes); }

}  // namespace tessera::exec
