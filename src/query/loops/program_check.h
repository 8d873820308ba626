#pragma once

#include "query/loops/chain.h"

namespace tessera::query {

/// What the text of a program says about its names.
struct ProgramNames {
  std::set<std::string> assigned;  // and declared: the arrays of the program
  std::set<std::string> declared;  // by var
  std::set<std::string> indexed;   // somewhere
};

/// ErrorAt for a name that means two things, and for `let v = R[i]` where R changes while v stands
/// for it.
ProgramNames checked_names(const sql::Program& program);

}  // namespace tessera::query
