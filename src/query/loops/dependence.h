#pragma once

#include "query/loops/chain.h"

namespace tessera::query {

/// Why the iterations of a loop, and of the loops inside, cannot be done at once, one assignment
/// after the other: an element that one of them reads or writes is written by another one, in the
/// wrong order. Nothing if they can. `locals`: the arrays of the program.
///
/// Values are folded in any order: R[i] += e is no reason, whatever i is.
std::optional<std::string> why_in_sequence(const sql::Step& loop, const Chain& around,
                                           const std::set<std::string>& locals,
                                           const IndexFunctions& functions);

/// Whether no iteration of a loop has to do with another one, whatever the loops inside are: then
/// it can be done for each step of its body by itself, and inside of a loop that is one.
bool is_independent(const sql::Step& loop, const Chain& around, const std::set<std::string>& locals,
                    const IndexFunctions& functions);

}  // namespace tessera::query
