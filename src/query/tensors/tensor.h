#pragma once

#include <string>
#include <vector>

#include "tessera/plan.h"

// Whole tensors, element by element, as plans over relations of their tiles: what expressions over
// named tensors are made of. Every operation infers the type of its result at once; shapes that do
// not fit are a TypeError that names them.

namespace tessera::query {

/// Key component d of the relation counts the tiles along dimension d. All tiles have the same
/// extents but those at the upper edges; a dimension without elements has one empty tile.
struct TensorType {
  DType dtype = DType::f64;
  Shape shape;
  Shape tile;  // at least 1 in each dimension, at most the shape

  int rank() const { return shape.rank(); }
  std::int64_t tiles(int dimension) const;
  friend bool operator==(const TensorType&, const TensorType&) = default;
};
std::string to_string(const TensorType& type);  // "f64[6x4] in tiles of [3x2]"

struct Tensor {
  TensorType type;
  Plan plan;
};

/// A relation that is a tensor of this shape cut into tiles.
Tensor tensor_of(const Plan& plan, const Shape& shape);
/// The same where the tiles are known to be of these extents; checked against what the plan infers.
Tensor tensor_of(const Plan& plan, const Shape& shape, const Shape& tile);
/// A tensor that was written down: one tile.
Tensor constant_tensor(const Tile& tile);

/// Each element by itself.
Tensor mapped(const Tensor& tensor, const KernelCall& kernel);
/// For each dimension of the result, which of the tensor it is.
Tensor permuted(const Tensor& tensor, const std::vector<int>& axes);
/// Two tensors element by element, broadcast by NumPy's rules.
Tensor elementwise(const Tensor& a, const Tensor& b, const KernelCall& kernel);
/// A kernel that looks at all elements at once, such as an inverse: every argument becomes one
/// tile.
Tensor applied_whole(const std::vector<Tensor>& arguments, const KernelCall& kernel, int output);

/// The relation under other keys, unless they are the same; no component is lost that tells tuples
/// apart.
Plan with_keys(const Plan& plan, const std::vector<KeyExpr>& components);

}  // namespace tessera::query
