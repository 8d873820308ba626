#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "laws/kernel_cases.h"

namespace tessera {

/// What a generator of cases works with: random tiles and parameters in the style asked for.
class CaseMaker {
 public:
  CaseMaker(Random& source, std::shared_ptr<const Kernel> kernel, const CaseStyle& style)
      : random(source), budget(random_budget(source)), kernel_(std::move(kernel)), style_(style) {}

  Tile tile(const Shape& shape) { return tile(shape, style_.tiles); }
  Tile tile(const Shape& shape, const Recipe& recipe) {
    return random_tile(random, dtype(), shape, recipe);
  }
  DType dtype() { return style_.dtype ? *style_.dtype : random_dtype(random); }
  const Recipe& recipe() const { return style_.tiles; }
  const Kernel& kernel() const { return *kernel_; }
  bool misfit() { return style_.misfits > 0 && random.chance(style_.misfits); }
  Shape shape(int least_dims = 0, int most_dims = max_rank) {
    return random_shape(random, least_dims, most_dims, budget);
  }
  std::int64_t extent(std::int64_t most) { return random_extent(random, most); }
  KernelCase made(std::vector<Tile> arguments, Params params = {}) {
    return {KernelCall(kernel_, std::move(params)), std::move(arguments)};
  }

  Random& random;
  std::int64_t budget;  // about how many elements a tile may have

 private:
  std::shared_ptr<const Kernel> kernel_;
  CaseStyle style_;
};

using Generator = KernelCase (*)(CaseMaker&);
/// By the name of the kernel.
using Generators = std::map<std::string, Generator>;
Generators elementwise_generators();
Generators reduction_generators();
Generators rearrangement_generators();
Generators product_generators();
Generators contraction_generators();
Generators factorization_generators();

}  // namespace tessera
