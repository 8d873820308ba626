#pragma once

#include "tessera/plan.h"
#include "tra/evaluate.h"

namespace tessera::ia {

/// Whether an operator must see the zeros that its sparse input leaves out: whether a Fill comes
/// before it.
bool needs_zeros(const tessera::Plan& plan, int input);

}  // namespace tessera::ia
