#pragma once

#include "tessera/kernel.h"

namespace tessera {

// What kernels of several families say of themselves.
inline void claim_nothing(Properties&) {}

/// A monotone function goes inside maximum and minimum. Only functions that are so bit by bit
/// claim it: the exponentials of the C library need not be.
inline void claim_monotone(Properties& f) { f.distributes_over = {{"maximum", 0}, {"minimum", 0}}; }

}  // namespace tessera
