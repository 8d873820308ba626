#include "query/rows/placed_kernel.h"

#include <memory>

namespace tessera::query {

KernelCall cast_to(const sql::Type& type) {
  return {"cast",
          {{"dtype", std::string(to_string(tile_type(type).dtype))},
           {"bits", std::int64_t{bits_of(type)}}}};
}

KernelCall placed(const KernelCall& kernel, lang::Place place) {
  if (place.offset < 0) return kernel;
  auto told = std::make_shared<Kernel>(kernel.kernel());
  for (Implementation& implementation : told->implementations)
    implementation.run = [run = implementation.run, place](Tiles tiles, const Params& params) {
      return lang::at_place(place, [&] { return run(tiles, params); });
    };
  return {std::move(told), kernel.params()};
}

}  // namespace tessera::query
