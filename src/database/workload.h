#pragma once

#include "store/catalog.h"
#include "tessera/run.h"

namespace tessera {

/// Remembers a plan whose result is being stored, and how fast its kernels were.
void remember(store::Catalog& catalog, const std::string& name, const Plan& plan,
              const RunReport& report);

}  // namespace tessera
