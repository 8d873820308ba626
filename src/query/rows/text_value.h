#pragma once

#include "query/rows/cell.h"

namespace tessera::query {

/// A value as text: what is shown, exported and cast to TEXT. Numbers are as short as they can be
/// and still read back as the same number.
std::string text_of(const Cell& cell);
/// The value that a text stands for; ValueError if it stands for none of that type.
Cell cast_text(const std::string& text, const Type& type);

}  // namespace tessera::query
