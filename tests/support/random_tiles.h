#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tessera/tile.h"

namespace tessera {

/// A sequence of random numbers (SplitMix64) that is the same for a seed on every machine, which
/// the distributions of the standard library are not.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits();
  std::int64_t between(std::int64_t low, std::int64_t high);  // both included
  double uniform(double low, double high);
  bool chance(double probability);
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(from.size()) - 1))];
  }
  template <class T>
  void shuffle(std::vector<T>& values) {
    for (std::size_t i = values.size(); i > 1; --i)
      std::swap(values[i - 1],
                values[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(i) - 1))]);
  }

 private:
  std::uint64_t state_;
};

/// What elements a random tile holds.
enum class Values {
  small_integers,  // -4 to 4: sums and products of a few are exact in every dtype
  fractions,       // floats within -10 and 10; integers as above
  peculiar,        // also NaN, infinities, -0, and i64 whose sums and products wrap around
};

enum class Layouts {
  any,         // strided views and sparse tiles too
  sparse,      // with one sparse dimension or more
  dense,       // strided views too
  contiguous,  // row-major
};

/// The seasoning of a random tile.
struct Recipe {
  Values values = Values::small_integers;
  Layouts layouts = Layouts::any;
};

DType random_dtype(Random& random);

/// Ranks from 0 to `most_dims`, at most `most_elements` elements; extents 0 and 1 are frequent.
Shape random_shape(Random& random, int least_dims = 0, int most_dims = max_rank,
                   std::int64_t most_elements = 100);
/// An extent from 0 to `most`, small ones more often.
std::int64_t random_extent(Random& random, std::int64_t most);
/// A shape that broadcasts to this one: some leading dimensions left out, some extents made 1.
Shape random_narrowing(Random& random, const Shape& shape);
/// How many elements a tile may have: mostly few, now and then thousands.
std::int64_t random_budget(Random& random);

/// A tile that reaches its elements in a random way: contiguous, permuted, sliced, with steps
/// backwards or of zero; or sparse with any number of sparse dimensions, at any density, with
/// explicit zeros, or as a view of a larger one.
Tile random_tile(Random& random, DType dtype, const Shape& shape, const Recipe& recipe);

/// The elements of a dense tile again, behind random strides.
Tile random_view(Random& random, const Tile& tile);

}  // namespace tessera
