#include "query/tensors/tensor_scan.h"

#include "kernel/arguments.h"
#include "query/tensors/tensor_tiling.h"

namespace tessera::query {

bool is_scan(const Kernel& kernel) { return kernel.name == "cumsum" || kernel.name == "cumprod"; }

Tensor scanned(const Tensor& tensor, const KernelCall& kernel) {
  const std::string& name = kernel.kernel().name;
  const int axis = normalize_axis(name, kernel.params().integer("axis"), tensor.type.shape);
  const Tensor inside = mapped(tensor, kernel);
  const std::int64_t tiles = tensor.type.tiles(axis);
  if (tiles == 1) return inside;
  // A total for each tile, all of which are few: what they come to before each tile.
  const bool sums = name == "cumsum";
  const KernelCall total(sums ? "sum" : "product",
                         {{"axes", std::vector<std::int64_t>{axis}}, {"keepdims", true}});
  Shape shape = tensor.type.shape, tile = tensor.type.tile;
  shape[axis] = tiles;
  tile[axis] = 1;
  const Tensor totals = retiled(tensor_of(tensor.plan.transform(total), shape, tile), axis, tiles);
  const KernelCall prefix(name, {{"axis", std::int64_t{axis}}, {"exclusive", true}});
  const Tensor before = retiled(mapped(totals, prefix), axis, 1);
  std::vector<int> same;
  for (int d = 0; d < tensor.type.rank(); ++d) same.push_back(d);
  return tensor_of(inside.plan.join(before.plan, same, same, KernelCall(sums ? "add" : "mul")),
                   tensor.type.shape, tensor.type.tile);
}

}  // namespace tessera::query
