#pragma once

#include "tessera/kernel.h"

namespace tessera {

/// solve(a, b): the x with a x = b.
Kernel solve_kernel();

}  // namespace tessera
