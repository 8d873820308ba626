#include "query/rows/kernel_location.h"

#include <memory>

namespace tessera::query {

KernelCall cast_to(const sql::Type& type) {
  return {"cast",
          {{"dtype", std::string(to_string(tile_type(type).dtype))},
           {"bits", std::int64_t{bits_of(type)}}}};
}

KernelCall placed(const KernelCall& kernel, lang::Location location) {
  if (location.offset < 0) return kernel;
  auto told = std::make_shared<Kernel>(kernel.kernel());
  for (Implementation& implementation : told->implementations)
    implementation.run = [run = implementation.run, location](Tiles tiles, const Params& params) {
      return lang::at_location(location, [&] { return run(tiles, params); });
    };
  return {std::move(told), kernel.params()};
}

}  // namespace tessera::query
