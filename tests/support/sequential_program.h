#pragma once

#include <map>
#include <string>

#include "lang/sql/program.h"
#include "tessera/tile.h"

namespace tessera {

/// What a program over arrays means by definition: its steps are done one after the other, element
/// by element. All numbers are doubles. `arrays` has what it reads, and gets what it declares and
/// assigns; numbers are arrays without dimensions. An element outside of an array is an
/// std::logic_error.
void run_in_sequence(const sql::Program& program, std::map<std::string, Tile>& arrays);

}  // namespace tessera
