#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/random_tiles.h"
#include "tessera/kernel.h"

namespace tessera {

/// A call of a kernel, and what it is called with.
struct KernelCase {
  KernelCall call;
  std::vector<Tile> arguments;
};
/// On one line: "sum(axes=[0]) of f64[2](3)".
std::string to_string(const KernelCase& kernel_case);

std::vector<TileType> types_of(const std::vector<Tile>& tiles);

struct CaseStyle {
  Recipe tiles;
  std::optional<DType> dtype;  // of all arguments; one for each of them if there is none
  /// How often something is made not to fit: an extent, an axis, a bound.
  double misfits = 0;
};

/// A random call of a kernel, with random parameters. A kernel that the generators do not know
/// gets arguments of one shape and the defaults of its parameters.
KernelCase random_case(Random& random, const std::shared_ptr<const Kernel>& kernel,
                       const CaseStyle& style);

bool has_generator(const std::string& kernel);

}  // namespace tessera
