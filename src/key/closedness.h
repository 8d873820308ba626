#pragma once

#include <cstdint>
#include <string>

#include "tessera/key.h"

namespace tessera {

/// The number of keys below `extents`; the largest integer where it does not fit 64 bits.
std::int64_t volume(const Key& extents);

/// Verdicts with their sentences, the same whoever finds the witness.
Verdict certain();
Verdict undecided(std::string reason);
Verdict repeated_key(const Key& point, const Key& other_point, const Key& key);
Verdict missing_key(const Key& key, const Key& frontier);
Verdict negative_key(const Key& point, const Key& key);

/// No point of the box passes the filter: everything holds, of nothing.
Closedness nothing_there(int arity, std::string method);

/// At `point` the filter or the map has no value; `error` says which and why. The keys are then no
/// keys at all, which is answered where keys are asked to be proper, and the rest is open.
Closedness without_value(const Key& point, const std::string& error, std::string method);

}  // namespace tessera
