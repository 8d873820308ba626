#pragma once

#include <vector>

#include "kernel/form/index_form.h"
#include "query/tensors/tensor.h"

namespace tessera::query {

/// In which tiles a form is computed.
struct FormTiles {
  std::vector<std::int64_t> extents;  // of the tiles along each index
  std::vector<std::int64_t> tiles;    // how many there are

  /// Whether there is more than one tile along any of these.
  bool cut(const std::vector<int>& indices) const;
};
/// As the arguments are tiled, the larger ones first. What finds a place is not cut.
FormTiles tiles_of(const TypedForm& form, const std::vector<Tensor>& arguments);

/// A form for single tiles.
struct TileForm {
  IndexForm form;
  struct Argument {
    int number = -1;        // of the whole form, or
    int positions_of = -1;  // the positions along this index
    /// The index that each dimension is read at by itself; -1: it is read elsewhere, and has to be
    /// there as a whole.
    std::vector<int> at = {};
    friend bool operator==(const Argument&, const Argument&) = default;
  };
  std::vector<Argument> arguments;
};
TileForm tile_form(const TypedForm& form, const FormTiles& tiles);

}  // namespace tessera::query
