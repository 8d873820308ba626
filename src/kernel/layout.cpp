#include "base/check.h"
#include "kernel/builtin.h"

// How tiles are laid out, where that is asked for; otherwise it follows from what makes them.

namespace tessera {
namespace {

TileType compressed(const TileType& type, const Params& params) {
  const std::int64_t dims = params.integer("sparse_dims");
  TESSERA_REQUIRE(TypeError, dims >= 0 && dims <= type.shape.rank(),
                  "compress: {} has {} dimensions, so that sparse_dims cannot be {}",
                  to_string(type), type.shape.rank(), dims);
  return {type.dtype, type.shape, static_cast<int>(dims)};
}

}  // namespace

std::vector<Kernel> layout_kernels() {
  Properties properties;
  properties.elementwise = true;
  properties.zero_preserving = true;
  properties.linear_in = {0};
  return {{.name = "compress",
           .description =
               "the same elements, of which the last dimensions store only those that are not zero",
           .parameters = {{"sparse_dims", std::nullopt, "how many dimensions; 0: none"}},
           .properties = std::move(properties),
           .infer = [](Types types,
                       const Params& params) { return std::vector{compressed(types[0], params)}; },
           .implementations = {
               {.name = "with_sparse_dims", .run = [](Tiles tiles, const Params& params) {
                  return std::vector{
                      tiles[0].with_sparse_dims(static_cast<int>(params.integer("sparse_dims")))};
                }}}}};
}

}  // namespace tessera
