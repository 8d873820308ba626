#include <cmath>

#include "base/stop.h"
#include "tile/convert.h"
#include "tile/dispatch.h"
#include "tile/random_element.h"

namespace tessera {
namespace {

template <class F>
Tile generate(DType dtype, const Shape& shape, F&& element) {
  MutableTile tile = MutableTile::uninitialized(dtype, shape);
  visit_dtype(dtype, [&]<class T>() {
    T* data = tile.data<T>();
    in_pieces(tile.elements(), "a random tile was made", [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) data[i] = convert<T>(element(i));
    });
  });
  return std::move(tile).publish();
}

}  // namespace

Tile random_uniform(DType dtype, const Shape& shape, std::uint64_t seed, double low, double high) {
  if (dtype == DType::boolean)  // a fair coin: next to no real is zero
    return generate(dtype, shape, [=](std::uint64_t i) { return random_bits(seed, i) >> 63; });
  return generate(dtype, shape,
                  [=](std::uint64_t i) { return uniform_element(seed, i, low, high); });
}

Tile random_normal(DType dtype, const Shape& shape, std::uint64_t seed, double mean,
                   double deviation) {
  return generate(dtype, shape,
                  [=](std::uint64_t i) { return normal_element(seed, i, mean, deviation); });
}

Tile random_integers(DType dtype, const Shape& shape, std::uint64_t seed, std::int64_t low,
                     std::int64_t high) {
  TESSERA_REQUIRE(TypeError, low < high,
                  "random integers: low must be less than high, but they are {} and {}", low, high);
  const std::uint64_t range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  return generate(dtype, shape, [=](std::uint64_t i) {
    const std::uint64_t offset = random_bits(seed, i) % range;
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset);
  });
}

Tile random_sparse(const TileType& type, std::uint64_t seed, double density) {
  TESSERA_REQUIRE(TypeError, density >= 0 && density <= 1,
                  "density must be between 0 and 1, not {}", density);
  const std::int64_t elements = type.shape.elements();
  SparseBuilder builder(type, static_cast<std::int64_t>(density * static_cast<double>(elements)));
  const std::int64_t width =
      Shape(type.shape.end() - type.sparse_dims, type.shape.end()).elements();
  // The gaps between entries that are stored independently with probability p are geometric.
  const double log_miss = std::log1p(-density);
  std::int64_t position = -1;
  StopPoll poll("a random tile was made");
  for (std::uint64_t i = 0; density > 0; ++i) {
    poll.passed(64);
    const double gap =
        density == 1 ? 0 : std::floor(std::log(1 - unit(random_bits(seed, 2 * i))) / log_miss);
    if (gap >= static_cast<double>(elements - position - 1)) break;
    position += 1 + static_cast<std::int64_t>(gap);
    const double value = 1 - unit(random_bits(seed, 2 * i + 1));
    visit_dtype(type.dtype, [&]<class T>() {
      builder.add(position / width, position % width,
                  std::is_floating_point_v<T> ? convert<T>(value) : T{1});
    });
  }
  return std::move(builder).publish();
}

}  // namespace tessera
