#pragma once

#include <cstdint>

namespace tessera {

/// Into which blocks a product of matrices m x k and k x n is cut, each of which is one call of a
/// library. They follow from the shape alone: not from how many threads there are, nor from what
/// else runs, because a library may sum an element of another block in another order.
///
/// There are enough of them to keep several threads busy, they are large enough to lose little by
/// reading each operand several times, and a call takes no more than a fraction of a second, as it
/// cannot be stopped: on a slow machine too. The common dimension is cut only where a call would
/// take longer.
struct ProductBlocks {
  std::int64_t rows = 1, columns = 1, inner = 1;  // extents of a block but the last
};

ProductBlocks product_blocks(std::int64_t m, std::int64_t n, std::int64_t k);

/// Whether a product is worth the microseconds that it takes to wake others for it.
bool is_worth_sharing(std::int64_t m, std::int64_t n, std::int64_t k);

}  // namespace tessera
