#pragma once

#include <functional>
#include <string>

#include "lang/sql/ast.h"
#include "tessera/tile.h"

namespace tessera {

/// The array of a name.
using ArrayNamed = std::function<Tile(const std::string& name)>;

/// What an array comprehension with a shape means by definition: its qualifiers turn lists of
/// bindings into lists of bindings, one after the other. All numbers are doubles. A key that occurs
/// twice, or an element outside of an array, is an std::logic_error.
Tile naive_comprehension(const sql::Comprehension& comprehension, const ArrayNamed& named);

}  // namespace tessera
