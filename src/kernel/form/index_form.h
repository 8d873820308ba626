#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/form/term.h"
#include "tessera/tile.h"

namespace tessera {

/// A result written element by element: [i,j] sum([k] #0[i,k] * #1[k,j]) is the product of two
/// matrices. Its arguments are numbered from 0.
///
/// An index that stands alone as a position of an argument runs over the extent of that dimension,
/// and all dimensions that it so indexes have to agree. For any other index the extent is given, as
/// in [i:10] i * i, or said to be that of a dimension: [i:#0:1] 1.0. One that is given may be
/// smaller than the dimensions that it indexes.
struct IndexForm {
  struct Index {
    std::string name;
    std::optional<std::int64_t> extent = {};
    struct Dimension {
      int argument = 0, dimension = 0;
    };
    std::optional<Dimension> like = {};  // whose extent it has
  };
  std::vector<Index> indices;  // those of the result first, then those of folds
  int rank = 0;                // how many are the result's
  Term value;
};

/// ParseError with the column where the text is no index form.
IndexForm parse_index_form(std::string_view text);
std::string to_string(const IndexForm& form);

/// What a form means for arguments of given types.
struct TypedForm {
  IndexForm form;
  std::vector<TileType> arguments;
  std::vector<std::int64_t> extents = {};        // of each index
  std::map<const TermNode*, DType> dtypes = {};  // of each term
  TileType result = {};

  DType dtype(const Term& term) const { return dtypes.at(term.get()); }
};
/// TypeError if the arguments do not fit.
TypedForm typed(IndexForm form, std::span<const TileType> arguments);

/// Computes a form by its definition, an element after the other: what compiled code is held to,
/// and what runs where there is no compiler.
Tile interpret(const TypedForm& form, std::span<const Tile> arguments);

}  // namespace tessera
