#pragma once

#include "tra/key_facts.h"

namespace tessera {

/// Whether every key below the frontier is there. The domain is not empty; `injective` says that
/// no two of its points have the same key, `non_negative` that no key is negative.
Verdict decide_continuity(KeyFacts& facts, const Key& frontier, bool injective, bool non_negative);

}  // namespace tessera
