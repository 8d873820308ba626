#include "support/random_tiles.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "support/elements.h"
#include "tile/dispatch.h"

namespace tessera {

std::uint64_t Random::bits() {
  std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

std::int64_t Random::between(std::int64_t low, std::int64_t high) {
  const std::uint64_t range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  const std::uint64_t offset =
      range == std::numeric_limits<std::uint64_t>::max() ? bits() : bits() % (range + 1);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset);
}

double Random::uniform(double low, double high) {
  return low + (high - low) * (static_cast<double>(bits() >> 11) * 0x1p-53);
}

bool Random::chance(double probability) { return uniform(0, 1) < probability; }

DType random_dtype(Random& random) {
  return random.pick(std::vector{DType::f32, DType::f64, DType::i64, DType::boolean});
}

std::int64_t random_extent(Random& random, std::int64_t most) {
  if (most <= 1 || random.chance(0.05)) return std::max<std::int64_t>(0, random.between(0, most));
  if (random.chance(0.15)) return 1;
  return random.chance(0.7) ? random.between(1, std::min<std::int64_t>(most, 6))
                            : random.between(1, most);
}

Shape random_shape(Random& random, int least_dims, int most_dims, std::int64_t most_elements) {
  const std::vector<int> ranks = {0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 4, 5, 6, 7, 8};
  const int rank = std::clamp(random.pick(ranks), least_dims, most_dims);
  Shape shape(rank, 1);
  std::vector<int> order(rank);
  std::iota(order.begin(), order.end(), 0);
  random.shuffle(order);
  std::int64_t room = most_elements;
  for (int d : order) {
    shape[d] = random_extent(random, room);
    room /= std::max<std::int64_t>(shape[d], 1);
  }
  // Small extents leave room: a large tile needs a long dimension.
  if (rank > 0 && room > 100) shape[order[0]] *= random.between(1, room);
  return shape;
}

Shape random_narrowing(Random& random, const Shape& shape) {
  const std::int64_t dropped = random.chance(0.3) ? random.between(0, shape.rank()) : 0;
  Shape result(shape.begin() + dropped, shape.end());
  const double narrowed = random.chance(0.5) ? 0.4 : 0;
  for (std::int64_t& extent : result)
    if (random.chance(narrowed)) extent = 1;
  return result;
}

std::int64_t random_budget(Random& random) {
  const double size = random.uniform(0, 1);
  return size < 0.7 ? 60 : size < 0.93 ? 300 : 4000;
}

namespace {

double random_real(Random& random, Values values) {
  if (values == Values::small_integers) return static_cast<double>(random.between(-4, 4));
  if (values == Values::peculiar && random.chance(0.3)) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    return random.pick(std::vector{std::numeric_limits<double>::quiet_NaN(), infinity, -infinity,
                                   -0.0, 0.0, 1.0, -1.0});
  }
  if (random.chance(0.1)) return 0;
  return random.chance(0.2) ? random.uniform(-1e6, 1e6) : random.uniform(-10, 10);
}

std::int64_t random_integer(Random& random, Values values) {
  if (values != Values::peculiar || random.chance(0.5)) return random.between(-4, 4);
  if (random.chance(0.5)) return static_cast<std::int64_t>(random.bits());
  using Limits = std::numeric_limits<std::int64_t>;
  return random.pick(std::vector<std::int64_t>{Limits::min(), Limits::max(), Limits::min() + 1,
                                               (std::int64_t{1} << 53) + 1, -1, 0,
                                               std::int64_t{1} << 62});
}

template <class T>
T random_value(Random& random, Values values) {
  if constexpr (std::is_same_v<T, bool>)
    return random.chance(0.5);
  else if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(random_real(random, values));
  else
    return random_integer(random, values);
}

Tile random_contiguous(Random& random, DType dtype, const Shape& shape, Values values) {
  MutableTile tile = MutableTile::uninitialized(dtype, shape);
  visit_dtype(dtype, [&]<class T>() {
    std::generate_n(tile.data<T>(), tile.elements(),
                    [&] { return random_value<T>(random, values); });
  });
  return std::move(tile).publish();
}

/// Storage whose dimensions stand in another order and are longer or shorter than a tile's, and how
/// the tile reads it.
struct ViewPlan {
  Shape extents;                   // of the storage, in the tile's order of dimensions
  std::vector<std::int64_t> axes;  // where each of the tile's dimensions stands in the storage
  Index begin, end;
  Strides step;
};

/// `repeats` allows strides of zero: dimensions whose elements are all the same.
ViewPlan random_view_plan(Random& random, const Shape& shape, bool repeats) {
  ViewPlan plan;
  plan.extents = shape;
  plan.axes.resize(shape.size());
  std::iota(plan.axes.begin(), plan.axes.end(), std::int64_t{0});
  if (random.chance(0.6)) random.shuffle(plan.axes);
  std::int64_t room = 4 * std::max<std::int64_t>(shape.elements(), 16);
  for (std::int64_t extent : shape) room /= std::max<std::int64_t>(extent, 1);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    std::int64_t step = random.chance(0.3) ? random.between(2, 3) : 1;
    std::int64_t margin = random.chance(0.3) ? random.between(0, 2) : 0;
    if (repeats && random.chance(0.1)) {
      plan.begin.push_back(0);
      plan.end.push_back(1);
      plan.step.push_back(1);
      plan.extents[d] = 1;
      continue;
    }
    if (step * (1 + margin) > room) step = 1, margin = 0;
    room /= step * (1 + margin);
    const std::int64_t span = shape[d] == 0 ? 0 : (shape[d] - 1) * step + 1;
    plan.extents[d] = span + margin;
    const std::int64_t first = random.between(0, margin);
    const bool backwards = span > 0 && random.chance(0.3);
    plan.begin.push_back(backwards ? first + span - 1 : first);
    plan.end.push_back(backwards ? first - 1 : first + span);
    plan.step.push_back(backwards ? -step : step);
  }
  return plan;
}

Shape storage_shape(const ViewPlan& plan) {
  Shape shape(plan.extents.size(), 0);
  for (std::size_t d = 0; d < plan.axes.size(); ++d) shape[plan.axes[d]] = plan.extents[d];
  return shape;
}

Tile view_of(const Tile& storage, const ViewPlan& plan, const Shape& shape) {
  return storage.permute(plan.axes).slice(plan.begin, plan.end, plan.step).broadcast(shape);
}

struct SparseArrays {
  std::vector<std::int64_t> offsets;
  std::vector<std::int64_t> coordinates;
  std::vector<double> f64;
  std::vector<float> f32;
  std::vector<std::int64_t> i64;

  template <class T>
  std::vector<T>& values() {
    if constexpr (std::is_same_v<T, float>)
      return f32;
    else if constexpr (std::is_same_v<T, double>)
      return f64;
    else
      return i64;
  }
};

Tile random_sparse_storage(Random& random, const TileType& type, Values values) {
  auto arrays = std::make_shared<SparseArrays>();
  const double density = random.pick(std::vector{0.0, 0.002, 0.05, 0.3, 0.3, 0.6, 1.0});
  const Shape dense(type.shape.begin(), type.shape.end() - type.sparse_dims);
  const std::int64_t width =
      Shape(type.shape.end() - type.sparse_dims, type.shape.end()).elements();
  return visit_dtype(type.dtype, [&]<class T>() {
    const auto add = [&](std::int64_t coordinate) {
      arrays->coordinates.push_back(coordinate);
      if constexpr (!std::is_same_v<T, bool>)
        arrays->values<T>().push_back(random_value<T>(random, values));
    };
    // Entries before the first row: a tile may begin in the middle of somebody's arrays.
    if (width > 0)
      for (std::int64_t i = random.chance(0.2) ? 2 : 0; i > 0; --i) add(0);
    arrays->offsets.push_back(static_cast<std::int64_t>(arrays->coordinates.size()));
    for (std::int64_t row = 0; row < dense.elements(); ++row) {
      const bool empty = random.chance(0.1);
      for (std::int64_t c = 0; c < width; ++c)
        if (!empty && random.chance(density)) add(c);
      arrays->offsets.push_back(static_cast<std::int64_t>(arrays->coordinates.size()));
    }
    const void* entries = nullptr;
    if constexpr (!std::is_same_v<T, bool>) entries = arrays->values<T>().data();
    return Tile::wrap_sparse(type, arrays->offsets.data(), arrays->coordinates.data(), entries,
                             arrays);
  });
}

Tile random_sparse_tile(Random& random, DType dtype, const Shape& shape, Values values) {
  TileType type{dtype, shape, static_cast<int>(random.between(1, shape.rank()))};
  const bool sliced = type.sparse_dims < shape.rank() && random.chance(0.3);
  if (!sliced) return random_sparse_storage(random, type, values);
  const std::int64_t before = random.between(0, 2);
  type.shape[0] += before + random.between(0, 2);
  Index begin(shape.size(), 0);
  Index end = shape;
  begin[0] = before;
  end[0] += before;
  return random_sparse_storage(random, type, values).slice(begin, end);
}

}  // namespace

Tile random_tile(Random& random, DType dtype, const Shape& shape, const Recipe& recipe) {
  const double layout = random.uniform(0, 1);
  const bool sparse =
      recipe.layouts == Layouts::sparse || (recipe.layouts == Layouts::any && layout < 0.4);
  if (sparse && shape.rank() > 0) return random_sparse_tile(random, dtype, shape, recipe.values);
  if (recipe.layouts == Layouts::contiguous || layout < 0.7)
    return random_contiguous(random, dtype, shape, recipe.values);
  const ViewPlan plan = random_view_plan(random, shape, true);
  return view_of(random_contiguous(random, dtype, storage_shape(plan), recipe.values), plan, shape);
}

Tile random_view(Random& random, const Tile& tile) {
  const ViewPlan plan = random_view_plan(random, tile.shape(), false);
  const Shape extents = storage_shape(plan);
  const Elements elements(tile);
  Elements storage(tile.dtype(), extents);
  for (std::int64_t i = 0; i < elements.size(); ++i) {
    const Index index = index_of(i, tile.shape());
    Index place(index.size(), 0);
    for (std::size_t d = 0; d < index.size(); ++d)
      place[plan.axes[d]] = plan.begin[d] + index[d] * plan.step[d];
    storage.set(position_of(place, extents), elements, i);
  }
  return view_of(to_tile(storage), plan, tile.shape());
}

}  // namespace tessera
