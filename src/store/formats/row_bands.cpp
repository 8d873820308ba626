#include "store/formats/row_bands.h"

#include <algorithm>
#include <filesystem>

#include "base/check.h"

namespace tessera::store {

RowBands::RowBands(Receiver& into, const TensorHead& head, std::int64_t columns,
                   std::int64_t memory, bool transposed)
    : into_(into),
      dtype_(head.tile.dtype),
      tile_rows_(head.tile.shape[0]),
      tile_columns_(head.tile.shape[1]),
      columns_(columns),
      tiles_across_(std::max<std::int64_t>(1, (columns + tile_columns_ - 1) / tile_columns_)),
      transposed_(transposed) {
  TensorHead own = head;
  if (transposed) own.tile.shape = {tile_columns_, tile_rows_};
  tensor_ = into.begin(own);
  const auto bytes = static_cast<double>(tile_rows_) * static_cast<double>(columns_) *
                     static_cast<double>(size_of(dtype_));
  // A single tile across must be held in any case.
  if (tiles_across_ > 1 && bytes > static_cast<double>(memory))
    file_ = File::temporary(std::filesystem::temp_directory_path());
}

std::int64_t RowBands::width_of(std::int64_t tile_column) const {
  return std::min(tile_columns_, columns_ - tile_column * tile_columns_);
}

void RowBands::open_band() {
  if (file_) return;
  for (std::int64_t t = 0; t < tiles_across_; ++t)
    tiles_.push_back(MutableTile::uninitialized(dtype_, {tile_rows_, width_of(t)}));
}

/// Values of one row, from the next column on.
void RowBands::put(const Numbers& values, std::int64_t first, std::int64_t count) {
  const auto size = static_cast<std::int64_t>(size_of(dtype_));
  if (file_) {
    bytes_.resize(static_cast<std::size_t>(count * size));
    values.copy(first, count, dtype_, bytes_.data());
    file_->write((band_rows_ * columns_ + column_) * size, bytes_);
    return;
  }
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t tile = (column_ + done) / tile_columns_;
    const std::int64_t inside = column_ + done - tile * tile_columns_;
    const std::int64_t width = width_of(tile);
    const std::int64_t piece = std::min(count - done, width - inside);
    values.copy(first + done, piece, dtype_,
                tiles_[tile].bytes_begin() + (band_rows_ * width + inside) * size);
    done += piece;
  }
}

void RowBands::add(const Numbers& values) {
  const auto count = static_cast<std::int64_t>(values.size());
  for (std::int64_t done = 0; done < count;) {
    if (band_rows_ == 0 && column_ == 0) open_band();
    const std::int64_t piece = std::min(count - done, columns_ - column_);
    put(values, done, piece);
    done += piece;
    column_ += piece;
    if (column_ < columns_) break;
    column_ = 0;
    ++rows_;
    if (++band_rows_ == tile_rows_) close_band();
  }
}

Tile RowBands::tile_from_file(std::int64_t tile_column) const {
  const auto size = static_cast<std::int64_t>(size_of(dtype_));
  const std::int64_t width = width_of(tile_column);
  MutableTile tile = MutableTile::uninitialized(dtype_, {band_rows_, width});
  for (std::int64_t row = 0; row < band_rows_; ++row)
    file_->read((row * columns_ + tile_column * tile_columns_) * size,
                {tile.bytes_begin() + row * width * size, static_cast<std::size_t>(width * size)});
  return std::move(tile).publish();
}

void RowBands::close_band() {
  for (std::int64_t t = 0; t < tiles_across_; ++t) {
    Tile tile = file_ ? tile_from_file(t) : std::move(tiles_[t]).publish();
    if (tile.shape()[0] > band_rows_) tile = tile.slice({0, 0}, {band_rows_, width_of(t)});
    if (transposed_)
      into_.add(tensor_, {t, band_}, tile.transpose().contiguous());
    else
      into_.add(tensor_, {band_, t}, tile);
  }
  tiles_.clear();
  ++band_;
  band_rows_ = 0;
}

void RowBands::finish(std::int64_t rows_without_columns) {
  TESSERA_INVARIANT(column_ == 0, "a row has {} of {} columns", column_, columns_);
  if (columns_ == 0) rows_ = rows_without_columns;
  if (band_rows_ > 0) {
    close_band();
  } else if (rows_ == 0 || columns_ == 0) {
    // A matrix without elements has empty tiles, at least one.
    const std::int64_t bands = std::max<std::int64_t>(1, (rows_ + tile_rows_ - 1) / tile_rows_);
    for (std::int64_t b = 0; b < bands; ++b)
      for (std::int64_t t = 0; t < tiles_across_; ++t) {
        const std::int64_t height = std::min(tile_rows_, rows_ - b * tile_rows_);
        const Shape shape = transposed_ ? Shape{width_of(t), height} : Shape{height, width_of(t)};
        into_.add(tensor_, transposed_ ? Key{t, b} : Key{b, t}, Tile::zeros(dtype_, shape));
      }
  }
  into_.end(tensor_, transposed_ ? Shape{columns_, rows_} : Shape{rows_, columns_});
}

Shape chosen_band_tile(DType dtype, const Shape& shape, std::int64_t memory) {
  Shape tile = chosen_tile(dtype, shape);
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  const std::int64_t room = std::max<std::int64_t>(1, memory / 2 / size);  // elements
  if (tile[1] >= shape[1] || tile[0] * shape[1] <= room) return tile;
  const std::int64_t area = tile[0] * tile[1];
  tile[0] = std::max<std::int64_t>(1, room / shape[1]);
  const std::int64_t across =
      std::max<std::int64_t>(1, shape[1] / std::max<std::int64_t>(1, area / tile[0]));
  tile[1] = (shape[1] - 1) / across + 1;
  return tile;
}

}  // namespace tessera::store
