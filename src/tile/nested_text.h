#pragma once

#include <iosfwd>
#include <string_view>

#include "tessera/tile.h"

namespace tessera {

/// What NaN and infinity are written as: null, as JSON has no such numbers, or nan, inf and -inf.
enum class NotFinite { null, named };

/// All elements of a tensor in nested brackets: [[1.5,2.0],[3.0,4.0]]. Numbers have as many digits
/// as are needed to read the same ones back. Of a tile of rank 0 it is the number alone.
void write_nested(std::ostream& out, const Tile& tile, NotFinite not_finite);

/// The tensor that such a text stands for, of a dtype and a rank; blanks between its parts do no
/// harm. ValueError, which says what is wrong, if it stands for none.
Tile read_nested(std::string_view text, DType dtype, int rank);

}  // namespace tessera
