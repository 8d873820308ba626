#pragma once

#include <memory>
#include <string_view>

#include "tessera/kernel.h"

namespace tessera {

/// What a name stands for: a kernel, and the parameters an alias sets.
struct KernelBinding {
  std::shared_ptr<const Kernel> kernel;
  Params params;
};

/// TypeError with the nearest known names if there is none.
KernelBinding resolve_kernel(std::string_view name);

}  // namespace tessera
