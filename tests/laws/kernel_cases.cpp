#include "laws/kernel_cases.h"

#include <fmt/format.h>

#include <algorithm>

#include "laws/case_maker.h"

namespace tessera {
namespace {

const Generators& generators() {
  static const Generators all = [] {
    Generators result;
    for (auto family : {elementwise_generators, reduction_generators, rearrangement_generators,
                        product_generators, contraction_generators, factorization_generators})
      result.merge(family());
    return result;
  }();
  return all;
}

KernelCase same_shapes(CaseMaker& make) {
  const Kernel& kernel = make.kernel();
  const Shape shape = make.shape();
  std::vector<Tile> arguments;
  const auto count = make.random.between(kernel.min_arguments,
                                         std::min(kernel.max_arguments, kernel.min_arguments + 2));
  for (std::int64_t i = 0; i < count; ++i) arguments.push_back(make.tile(shape));
  return make.made(std::move(arguments));
}

}  // namespace

std::string to_string(const KernelCase& kernel_case) {
  std::vector<std::string> types;
  for (const TileType& type : types_of(kernel_case.arguments)) types.push_back(to_string(type));
  return fmt::format("{} of {}", kernel_case.call.to_string(), fmt::join(types, ", "));
}

std::vector<TileType> types_of(const std::vector<Tile>& tiles) {
  std::vector<TileType> types(tiles.size());
  std::transform(tiles.begin(), tiles.end(), types.begin(),
                 [](const Tile& tile) { return tile.type(); });
  return types;
}

bool has_generator(const std::string& kernel) { return generators().contains(kernel); }

KernelCase random_case(Random& random, const std::shared_ptr<const Kernel>& kernel,
                       const CaseStyle& style) {
  CaseMaker make(random, kernel, style);
  const auto found = generators().find(kernel->name);
  return found == generators().end() ? same_shapes(make) : found->second(make);
}

}  // namespace tessera
