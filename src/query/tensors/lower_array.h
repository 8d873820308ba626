#pragma once

#include <memory>

#include "calculus/array.h"
#include "query/tensors/fusion.h"
#include "query/tensors/tensor.h"

namespace tessera::query {

/// Arrays over tensors, and their plans: which tiles meet, what is computed of those that do, and
/// what is folded over tiles. What several arrays have in common is one plan.
class Arrays {
 public:
  explicit Arrays(double worth_compiling = usually_worth_compiling);
  ~Arrays();
  Arrays(const Arrays&) = delete;
  Arrays& operator=(const Arrays&) = delete;

  /// A tensor as an array that is given.
  calculus::Array given(const Tensor& tensor);
  Tensor tensor(const calculus::Array& array);

 private:
  class Lowering;
  std::unique_ptr<Lowering> lowering_;
};

}  // namespace tessera::query
