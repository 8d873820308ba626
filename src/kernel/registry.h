#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tessera/kernel.h"

namespace tessera {

/// What a name stands for: a kernel, and the parameters an alias sets.
struct KernelBinding {
  std::shared_ptr<const Kernel> kernel;
  Params params;
};

/// The kernels whose names are most like this one, each by its own name even if an alias is closer;
/// aliases that set parameters are kernels of their own here.
std::vector<std::string> kernels_like(std::string_view name);

/// TypeError with the nearest known names if there is none.
KernelBinding resolve_kernel(std::string_view name);

}  // namespace tessera
