#pragma once

#include <vector>

#include "tessera/ia.h"

namespace tessera::optimizer {

/// Moves of one relation to one place are one move, whoever reads what they bring.
///   f(Move(d)(R)), g(Move(d)(R))  ==  f(M), g(M)      with M = Move(d)(R)
std::vector<ia::Plan> share_moves(const std::vector<ia::Plan>& roots);

}  // namespace tessera::optimizer
