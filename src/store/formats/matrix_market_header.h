#pragma once

#include <string>

#include "store/formats/text_blocks.h"

namespace tessera::store {

enum class Field { real, integer, pattern };
enum class Symmetry { general, symmetric, skew };

/// What a Matrix Market file says of itself before its numbers.
struct MatrixMarketHeader {
  bool coordinates = true;  // or an array
  Field field = Field::real;
  Symmetry symmetry = Symmetry::general;
  std::int64_t rows = 0, columns = 0;
  std::int64_t entries = 0;  // lines with numbers
  std::int64_t offset = 0;   // where they begin in the file, and in which line
  std::int64_t line = 1;
};

/// IoError with the line if it is not as it should.
MatrixMarketHeader read_header(const TextFile& file);

}  // namespace tessera::store
