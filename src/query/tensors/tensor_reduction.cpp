#include "query/tensors/tensor_reduction.h"

#include <algorithm>
#include <map>

#include "base/check.h"
#include "kernel/arguments.h"
#include "query/tensors/tensor_tiling.h"
#include "tile/dispatch.h"

namespace tessera::query {
namespace {

/// How what a reduction has made of each tile is put together.
const std::map<std::string, std::string>& folds() {
  static const std::map<std::string, std::string> all = {
      {"sum", "add"},         {"product", "mul"},    {"max", "maximum"},      {"min", "minimum"},
      {"all", "logical_and"}, {"any", "logical_or"}, {"count_nonzero", "add"}};
  return all;
}

Tensor mean(const Tensor& tensor, const std::vector<std::int64_t>& axes, bool keepdims) {
  double count = 1;
  for (std::int64_t axis : axes)
    count *= static_cast<double>(tensor.type.shape[static_cast<int>(axis)]);
  const Tensor floats = is_float(tensor.type.dtype)
                            ? tensor
                            : mapped(tensor, KernelCall("cast", {{"dtype", std::string("f64")}}));
  const Tensor sum = reduced(floats, KernelCall("sum", {{"axes", axes}, {"keepdims", keepdims}}));
  return mapped(sum, KernelCall("div_scalar", {{"value", count}}));
}

}  // namespace

bool is_reduction(const Kernel& kernel) {
  return folds().contains(kernel.name) || kernel.name == "mean" || kernel.name == "argmax" ||
         kernel.name == "argmin";
}

Tensor reduced(const Tensor& tensor, const KernelCall& kernel) {
  const std::string& name = kernel.kernel().name;
  const bool keepdims = kernel.params().flag("keepdims");
  const std::vector<std::int64_t> given = kernel.params().integers("axes");
  const int rank = tensor.type.rank();
  std::vector<bool> goes(static_cast<std::size_t>(rank), given.empty());
  for (int axis : normalize_axes(name, given, tensor.type.shape)) goes[axis] = true;
  std::vector<std::int64_t> axes;
  for (int d = 0; d < rank; ++d)
    if (goes[d]) axes.push_back(d);
  if (axes.empty()) return mapped(tensor, kernel);
  if (name == "mean") return mean(tensor, axes, keepdims);

  Tensor input = tensor;
  const auto fold = folds().find(name);
  if (fold == folds().end())  // which element it is can only be told by looking at all of them
    for (std::int64_t axis : axes)
      input = retiled(input, static_cast<int>(axis), input.type.shape[static_cast<int>(axis)]);
  Plan plan = input.plan.transform(KernelCall(name, {{"axes", axes}, {"keepdims", keepdims}}));
  std::vector<int> kept;
  std::vector<KeyExpr> kept_keys, padded;
  Shape shape, tile;
  bool many = false;
  for (int d = 0; d < rank; ++d) {
    if (goes[d]) many = many || input.type.tiles(d) > 1;
    if (!goes[d]) {
      padded.push_back(key(static_cast<int>(kept.size())));
      kept.push_back(d);
      kept_keys.push_back(key(d));
    } else if (keepdims) {
      padded.emplace_back(0);
    }
    if (goes[d] && !keepdims) continue;
    shape.push_back(goes[d] ? 1 : input.type.shape[d]);
    tile.push_back(goes[d] ? 1 : input.type.tile[d]);
  }
  if (many) {
    plan = plan.aggregate(kept, fold->second);
    if (keepdims) plan = with_keys(plan, padded);
  } else if (!keepdims) {
    plan = with_keys(plan, kept_keys);
  }
  return tensor_of(plan, shape, tile);
}

Tensor softmax(const Tensor& tensor) {
  const int rank = tensor.type.rank();
  if (rank == 0 || tensor.type.tiles(rank - 1) == 1) return mapped(tensor, "softmax");
  const Tensor floats = is_float(tensor.type.dtype)
                            ? tensor
                            : mapped(tensor, KernelCall("cast", {{"dtype", std::string("f64")}}));
  const Tensor largest = reduced(floats, "max(axes=[-1], keepdims=true)");
  const Tensor powers = mapped(elementwise(floats, largest, "sub"), "exp");
  return elementwise(powers, reduced(powers, "sum(axes=[-1], keepdims=true)"), "div");
}

}  // namespace tessera::query
