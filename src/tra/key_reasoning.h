#pragma once

#include "tessera/key.h"

namespace tessera {

/// Decides closedness without looking at every point: by linear arithmetic where that is enough,
/// by Z3 within the time given where it is not. A verdict other than unknown is exact. The set must
/// not be opaque.
Closedness reason_about_closedness(const KeySet& keys, int milliseconds);

}  // namespace tessera
