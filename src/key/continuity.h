#pragma once

#include "key/facts.h"

namespace tessera {

/// Whether every key below the frontier is there. `some_point` is one of the domain; `injective`
/// says that no two of its points have the same key, `non_negative` that no key is negative.
Verdict decide_continuity(KeyFacts& facts, const Key& frontier, const Key& some_point,
                          bool injective, bool non_negative);

}  // namespace tessera
