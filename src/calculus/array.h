#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "kernel/form/index_form.h"

namespace tessera::calculus {

struct Definition;

/// An array as a function of its indices: one that is given, or one that an index form defines from
/// others. What it is stored as, and in which tiles, is not said here.
struct Array {
  TileType type;    // of the whole array; sparse if only its entries are stored
  int source = -1;  // which one is given, or
  std::shared_ptr<const Definition> definition = nullptr;  // how it is defined
};

/// The arguments of the form are arrays. Its extents are those of the whole arrays.
struct Definition {
  IndexForm form;
  std::vector<Array> arguments;
};

/// With the dtype of each term and the extent of each index.
TypedForm typed_of(const Definition& definition);

Array given(int source, const TileType& type);
/// TypeError if the arguments do not fit the form.
Array defined(IndexForm form, std::vector<Array> arguments);

/// What a part of a form is at some of its indices, as an array of its own. `arguments` are those
/// of the form; the array has those that it reads.
Array part_of(const TypedForm& form, const Term& part, const std::vector<int>& result,
              const std::vector<Array>& arguments);

/// The element by element definition of an array, on tiles that are whole arrays: the reference
/// that everything else is held to.
Tile evaluate(const Array& array, std::span<const Tile> sources);

/// The term with other terms in place of the values of some indices.
Term substituted(const Term& term, const std::map<int, Term>& indices);
/// The term with other numbers for all its indices, those of its folds too.
Term renumbered(const Term& term, const std::map<int, int>& indices);

}  // namespace tessera::calculus
