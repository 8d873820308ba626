#pragma once

#include "tessera/key.h"

namespace tessera {

/// Decides closedness without looking at every point: by linear arithmetic where that is enough,
/// by Z3 where it is not, as much as it does in that time on an idle machine. A verdict other than
/// unknown is exact. The set must not be opaque.
Closedness reason_about_closedness(const KeySet& keys, int milliseconds);

}  // namespace tessera
