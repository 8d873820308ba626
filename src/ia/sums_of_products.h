#pragma once

#include "tessera/ia.h"

namespace tessera::ia {

/// Whether the products of a join are single tiles, summed: then a kernel may add its product to
/// the accumulator itself, if that has the product's type and is dense.
inline bool sums_products(const Aggregate& aggregate, const Join& join) {
  return aggregate.kernels.size() == 1 && aggregate.kernels.front().kernel().name == "add" &&
         join.projection.size() == 1 && join.projection.front().size() == 1;
}

}  // namespace tessera::ia
