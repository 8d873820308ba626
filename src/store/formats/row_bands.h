#pragma once

#include <optional>
#include <vector>

#include "base/file.h"
#include "store/formats/format.h"
#include "store/formats/numbers.h"

namespace tessera::store {

/// Cuts a matrix that comes row by row into tiles. A band is the rows of a row of tiles: it is held
/// until it is whole, in memory or, where it is too large for that, in a temporary file.
///
/// `transposed`: what comes are the columns of the matrix; extents and tile are those of rows as
/// they come.
class RowBands {
 public:
  RowBands(Receiver& into, const TensorHead& head, std::int64_t columns, std::int64_t memory,
           bool transposed = false);

  /// Values one after the other, in pieces of any size.
  void add(const Numbers& values);
  /// The last band may be lower. All that there is has been added; how many rows that are must be
  /// said where they have no columns.
  void finish(std::int64_t rows_without_columns = 0);

 private:
  std::int64_t width_of(std::int64_t tile_column) const;
  void open_band();
  void put(const Numbers& values, std::int64_t first, std::int64_t count);
  void close_band();
  Tile tile_from_file(std::int64_t tile_column) const;

  Receiver& into_;
  const DType dtype_;
  const std::int64_t tile_rows_, tile_columns_, columns_, tiles_across_;
  const bool transposed_;
  int tensor_ = 0;
  std::int64_t rows_ = 0;       // that are whole
  std::int64_t column_ = 0;     // of the next value
  std::int64_t band_ = 0;       // the number of the band that is open
  std::int64_t band_rows_ = 0;  // rows in it
  std::vector<MutableTile> tiles_;
  std::optional<File> file_;
  std::vector<std::byte> bytes_;  // on their way to the file
};

/// The extents of tiles for rows that come one after the other: as `chosen_tile`, but a band of
/// them fits into the memory.
Shape chosen_band_tile(DType dtype, const Shape& shape, std::int64_t memory);

}  // namespace tessera::store
