#pragma once

#include "query/tensors/tensor.h"

namespace tessera::query {

/// A tensor whose dimensions have names, a letter each: what has the same letter in two of them
/// runs over both at once. Matrix products, broadcasting and Einstein's notation are all this, and
/// so is a comprehension over two tensors.
struct LabelledTensor {
  Tensor tensor;
  std::string letters;

  std::int64_t extent(char letter) const;
};

/// A tensor under the letters of a larger shape that it is broadcast to: a dimension of extent 1
/// that is broadcast gets a letter of its own, from `own` on, which no other operand has.
LabelledTensor broadcast(const Tensor& tensor, const Shape& shape, const std::string& letters,
                         char own);

/// Pairs of tiles that agree in the letters that both have, through a kernel that makes a tile with
/// the dimensions `output` of them, and added up over letters that both have and the result has
/// not. A letter that only one has is in the result, or its extent is 1. Tiles are made to fit.
Tensor joined(const LabelledTensor& a, const LabelledTensor& b, const KernelCall& kernel,
              const std::string& output);

/// Of dimensions with the same letter, only the diagonal: each letter once.
LabelledTensor diagonal(const LabelledTensor& tensor);

}  // namespace tessera::query
