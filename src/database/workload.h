#pragma once

#include "store/catalog.h"
#include "tessera/run.h"

namespace tessera {

/// Remembers plans whose results are being stored, all of one run, and how fast its kernels were.
void remember(store::Catalog& catalog, const std::vector<std::pair<std::string, Plan>>& results,
              const RunReport& report);

}  // namespace tessera
