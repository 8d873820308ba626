#include "query/tensors/tensor.h"

#include <algorithm>

#include "base/check.h"
#include "query/tensors/labelled_tensor.h"
#include "query/tensors/tensor_tiling.h"

namespace tessera::query {
namespace {

/// Tiles that are no larger than the tensor, and not empty.
Shape clipped(const Shape& tile, const Shape& shape) {
  Shape result = tile;
  for (int d = 0; d < shape.rank(); ++d)
    result[d] = std::max<std::int64_t>(1, std::min(tile[d], shape[d]));
  return result;
}

}  // namespace

std::int64_t TensorType::tiles(int dimension) const {
  const std::int64_t extent = shape[dimension];
  return extent == 0 ? 1 : (extent - 1) / tile[dimension] + 1;
}

std::string to_string(const TensorType& type) {
  return fmt::format("{} in tiles of {}", to_string(TileType{type.dtype, type.shape}),
                     to_string(type.tile));
}

Tensor tensor_of(const Plan& plan, const Shape& shape) {
  return tensor_of(plan, shape, plan.type().columns.at(0).type.shape);
}

Tensor tensor_of(const Plan& plan, const Shape& shape, const Shape& tile) {
  const RelationType& relation = plan.type();
  TESSERA_INVARIANT(relation.columns.size() == 1 && relation.arity() == shape.rank(),
                    "{} is no tensor of {}", to_string(relation), to_string(shape));
  const TileType& bound = relation.columns[0].type;
  TensorType type{bound.dtype, shape, clipped(tile, shape)};
  for (int d = 0; d < shape.rank(); ++d) {
    const bool tiled =
        relation.frontier[d] == unknown_extent || relation.frontier[d] == type.tiles(d);
    TESSERA_INVARIANT(tiled && bound.shape[d] == std::min(type.tile[d], shape[d]), "{} is not {}",
                      to_string(relation), to_string(type));
  }
  return {std::move(type), plan};
}

Tensor constant_tensor(const Tile& tile) {
  const Shape whole = clipped(tile.shape(), tile.shape());
  return tensor_of(Plan::input(Relation::from_tensor(tile, whole)), tile.shape());
}

Tensor mapped(const Tensor& tensor, const KernelCall& kernel) {
  return tensor_of(tensor.plan.transform(kernel), tensor.type.shape, tensor.type.tile);
}

Plan with_keys(const Plan& plan, const std::vector<KeyExpr>& components) {
  bool same = std::cmp_equal(components.size(), plan.type().arity());
  for (std::size_t i = 0; same && i < components.size(); ++i)
    same = equal(components[i], key(static_cast<int>(i)));
  return same ? plan : plan.rekey(KeyFunction(components));
}

Tensor permuted(const Tensor& tensor, const std::vector<int>& axes) {
  std::vector<int> same(axes.size()), reversed(axes.size());
  for (std::size_t d = 0; d < axes.size(); ++d) {
    same[d] = static_cast<int>(d);
    reversed[d] = static_cast<int>(axes.size() - 1 - d);
  }
  if (axes == same) return tensor;
  std::vector<KeyExpr> keys;
  Shape shape, tile;
  for (int axis : axes) {
    keys.push_back(key(axis));
    shape.push_back(tensor.type.shape[axis]);
    tile.push_back(tensor.type.tile[axis]);
  }
  const std::vector<std::int64_t> order(axes.begin(), axes.end());
  const KernelCall kernel =
      axes == reversed ? KernelCall("transpose") : KernelCall("permute", {{"axes", order}});
  return tensor_of(with_keys(tensor.plan.transform(kernel), keys), shape, tile);
}

Tensor elementwise(const Tensor& a, const Tensor& b, const KernelCall& kernel) {
  const Shape shape = broadcast_shapes(a.type.shape, b.type.shape);
  std::string output;
  for (int d = 0; d < shape.rank(); ++d) output += static_cast<char>('a' + d);
  return joined(broadcast(a, shape, output, 'A'), broadcast(b, shape, output, 'N'), kernel, output);
}

Tensor applied_whole(const std::vector<Tensor>& arguments, const KernelCall& kernel, int output) {
  Plan plan = retiled(arguments.at(0), arguments[0].type.shape).plan;
  if (arguments.size() == 1) plan = plan.transform(kernel);
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    std::vector<Apply> projection;
    if (i + 1 == arguments.size())
      projection.emplace_back(kernel);
    else
      for (int c = 0; std::cmp_less_equal(c, i); ++c) projection.push_back(Apply::column(c));
    plan = plan.join(retiled(arguments[i], arguments[i].type.shape).plan, {}, {}, projection);
  }
  plan = with_keys(plan, {});
  const auto outputs = static_cast<int>(plan.type().columns.size());
  TESSERA_REQUIRE(TypeError, output >= 0 && output < outputs, "{} has outputs 0 to {}, not {}",
                  kernel.kernel().name, outputs - 1, output);
  if (outputs > 1) plan = plan.transform(Apply::column(output));
  const Shape shape = plan.type().columns[0].type.shape;
  return tensor_of(with_keys(plan, std::vector<KeyExpr>(shape.size(), 0)), shape);
}

}  // namespace tessera::query
