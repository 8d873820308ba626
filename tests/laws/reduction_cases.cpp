#include <algorithm>
#include <numeric>

#include "laws/case_maker.h"

namespace tessera {
namespace {

/// Some of the dimensions, each once, in any order, counted from either end.
std::vector<std::int64_t> random_axes(CaseMaker& make, int rank) {
  std::vector<std::int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), std::int64_t{0});
  make.random.shuffle(axes);
  axes.resize(make.random.between(std::min(1, rank), rank));
  for (std::int64_t& axis : axes)
    if (make.random.chance(0.3)) axis -= rank;
  if (make.misfit()) axes.push_back(make.random.between(-rank - 2, rank + 2));
  return axes;
}

KernelCase reduction(CaseMaker& make) {
  Tile tile = make.tile(make.shape());
  Params params;
  if (make.random.chance(0.8)) {
    const std::vector<std::int64_t> axes = random_axes(make, tile.rank());
    if (axes.size() == 1 && make.random.chance(0.3))
      params.set("axes", axes[0]);
    else
      params.set("axes", axes);
  }
  if (make.random.chance(0.5)) params.set("keepdims", make.random.chance(0.5));
  return make.made({std::move(tile)}, std::move(params));
}

}  // namespace

Generators reduction_generators() {
  Generators result;
  for (const char* name :
       {"sum", "mean", "product", "max", "min", "argmax", "argmin", "count_nonzero", "all", "any"})
    result[name] = reduction;
  return result;
}

}  // namespace tessera
