#include <algorithm>
#include <numeric>

#include "laws/case_maker.h"

namespace tessera {
namespace {

using Integers = std::vector<std::int64_t>;

KernelCase transpose(CaseMaker& make) { return make.made({make.tile(make.shape())}); }

KernelCase permute(CaseMaker& make) {
  Tile tile = make.tile(make.shape());
  Integers axes(tile.rank());
  std::iota(axes.begin(), axes.end(), std::int64_t{0});
  make.random.shuffle(axes);
  for (std::int64_t& axis : axes)
    if (make.random.chance(0.2)) axis -= tile.rank();
  if (make.misfit() && !axes.empty()) axes[0] = make.random.between(-9, 9);
  if (make.misfit()) axes.push_back(0);
  return make.made({std::move(tile)}, {{"axes", axes}});
}

/// The number cut into factors, one of them perhaps left open.
Integers random_factors(CaseMaker& make, std::int64_t elements) {
  Integers factors;
  std::int64_t rest = elements;
  while (factors.size() < 7 && make.random.chance(0.75)) {
    std::int64_t factor = make.random.between(1, std::max<std::int64_t>(rest, 1));
    while (rest != 0 && rest % factor != 0) --factor;
    factors.push_back(rest == 0 ? make.random.between(0, 3) : factor);
    if (rest != 0) rest /= factor;
  }
  if (rest != 1 || make.random.chance(0.3)) factors.push_back(rest);
  make.random.shuffle(factors);
  if (!factors.empty() && make.random.chance(0.3))
    factors[make.random.between(0, static_cast<std::int64_t>(factors.size()) - 1)] = -1;
  return factors;
}

KernelCase reshape(CaseMaker& make) {
  Tile tile = make.tile(make.shape());
  Integers shape = random_factors(make, tile.elements());
  if (make.misfit()) shape.push_back(make.random.between(-2, 3));
  return make.made({std::move(tile)}, {{"shape", shape}});
}

KernelCase slice(CaseMaker& make) {
  Random& random = make.random;
  Tile tile = make.tile(make.shape());
  const bool one_step = random.chance(0.3);
  const std::int64_t common = random.pick(Integers{1, 1, 2, -1});
  Integers begin, end, step;
  for (std::int64_t extent : tile.shape()) {
    step.push_back(one_step ? common : random.pick(Integers{1, 1, 1, 2, 3, -1, -2}));
    const bool forward = step.back() > 0;
    const std::int64_t lowest = forward ? -extent : -extent - 1;
    const std::int64_t highest = forward ? extent : extent - 1;
    begin.push_back(random.between(lowest, highest));
    end.push_back(random.between(lowest, highest));
    if (random.chance(0.3)) begin.back() = forward ? 0 : extent - 1;
    if (random.chance(0.3)) end.back() = forward ? extent : -extent - 1;
    if (make.misfit()) end.back() = random.between(-9, 9);
  }
  if (make.misfit()) begin.push_back(0);
  if (make.misfit() && !step.empty()) step[0] = 0;
  Params params{{"begin", begin}, {"end", end}};
  if (one_step && !step.empty())
    params.set("step", step[0]);
  else if (!step.empty() || random.chance(0.5))
    params.set("step", step);
  return make.made({std::move(tile)}, std::move(params));
}

KernelCase diag(CaseMaker& make) {
  const Shape shape = make.shape(make.misfit() ? 0 : 1);
  return make.made({make.tile(shape.rank() == 1 && shape[0] > 60 ? Shape{60} : shape)});
}

KernelCase tile(CaseMaker& make) {
  Tile once = make.tile(make.shape(0, 5));
  Integers repeats(make.random.between(0, once.rank() + 2));
  std::int64_t room = 4;
  for (std::int64_t& times : repeats) {
    times = make.random.chance(0.05) ? 0 : make.random.between(1, room);
    room = std::max<std::int64_t>(1, room / std::max<std::int64_t>(times, 1));
    if (make.misfit()) times = -1;
  }
  return make.made({std::move(once)}, {{"repeats", repeats}});
}

KernelCase pad(CaseMaker& make) {
  Tile inner = make.tile(make.shape(0, 5));
  Integers before, after;
  for (int d = 0; d < inner.rank(); ++d) {
    before.push_back(make.random.chance(0.5) ? 0 : make.random.between(0, 2));
    after.push_back(make.random.chance(0.5) ? 0 : make.random.between(0, 2));
    if (make.misfit()) after.back() = -1;
  }
  if (make.misfit()) before.push_back(0);
  Params params{{"before", before}, {"after", after}};
  if (make.random.chance(0.5))
    params.set("value", make.random.between(0, inner.dtype() == DType::boolean ? 1 : 3));
  if (make.misfit()) params.set("value", 0.5);
  return make.made({std::move(inner)}, std::move(params));
}

KernelCase cast(CaseMaker& make) {
  Tile tile = make.tile(make.shape());
  std::string dtype(to_string(random_dtype(make.random)));
  if (make.misfit()) dtype = "f16";
  Params params{{"dtype", dtype}};
  if (make.random.chance(0.3)) params.set("bits", std::int64_t{make.misfit() ? 16 : 32});
  return make.made({std::move(tile)}, params);
}

KernelCase concat(CaseMaker& make) {
  Shape shape = make.shape(make.misfit() ? 0 : 1);
  const int rank = shape.rank();
  std::int64_t axis = rank == 0 ? 0 : make.random.between(-rank, rank - 1);
  std::vector<Tile> parts;
  for (std::int64_t i = make.random.between(1, 4); i > 0; --i) {
    if (rank > 0) shape[axis < 0 ? axis + rank : axis] = make.extent(8);
    parts.push_back(make.tile(make.misfit() ? make.shape() : shape));
  }
  if (make.misfit()) axis = make.random.between(-9, 9);
  return make.made(std::move(parts), {{"axis", axis}});
}

KernelCase assemble(CaseMaker& make) {
  Random& random = make.random;
  Shape shape = make.shape(make.misfit() ? 0 : 1);
  const int rank = shape.rank();
  const std::int64_t axis = rank == 0 ? 0 : random.between(-rank, rank - 1);
  const int dimension = static_cast<int>(axis < 0 ? axis + rank : axis);
  std::vector<Tile> tiles{make.tile(shape)};
  Integers begins{random.between(-3, 3)}, wanted;
  for (std::int64_t parts = random.between(0, 3); parts > 0; --parts) {
    const std::int64_t before = rank > 0 ? shape[dimension] : 0;
    begins.push_back(random.chance(0.7) ? begins.back() + before : random.between(-5, 20));
    if (rank > 0) shape[dimension] = make.extent(8);
    const Tile next = make.tile(make.misfit() ? make.shape() : shape);
    tiles.push_back(make.misfit() ? next : next.cast(tiles[0].dtype()));
  }
  std::int64_t position = random.between(-5, 10);
  const std::int64_t step = random.pick(Integers{1, 1, 1, 2, 3, -1});
  for (std::int64_t count = random.between(0, 12); count > 0; --count) {
    wanted.push_back(position);
    position = random.chance(0.8) ? position + step : random.between(-5, 20);
  }
  if (random.chance(0.1)) begins[0] = random.pick(Integers{INT64_MIN, INT64_MAX});
  if (make.misfit()) begins.push_back(0);
  for (const Integers& list : {begins, wanted}) {
    MutableTile vector = MutableTile::uninitialized(
        DType::i64, {static_cast<std::int64_t>(list.size()) + (make.misfit() ? 1 : 0)});
    std::fill_n(vector.data<std::int64_t>(), vector.elements(), 0);
    std::copy(list.begin(), list.end(), vector.data<std::int64_t>());
    const Tile made = std::move(vector).publish();
    tiles.push_back(make.misfit() ? made.cast(DType::f64) : made);
  }
  return make.made(std::move(tiles), {{"axis", axis}});
}

KernelCase expand_dims(CaseMaker& make) {
  Tile tile = make.tile(make.shape(0, make.misfit() ? max_rank : max_rank - 1));
  const std::int64_t outside = make.misfit() ? 1 : 0;
  const std::int64_t axis = make.random.between(-tile.rank() - 1 - outside, tile.rank() + outside);
  return make.made({std::move(tile)}, {{"axis", axis}});
}

KernelCase scan(CaseMaker& make) {
  Tile tile = make.tile(make.shape(make.misfit() ? 0 : 1));
  const std::int64_t outside = make.misfit() || tile.rank() == 0 ? 1 : 0;
  const std::int64_t axis = make.random.between(-tile.rank() - outside, tile.rank() - 1 + outside);
  return make.made({std::move(tile)}, {{"axis", axis}, {"exclusive", make.random.chance(0.3)}});
}

KernelCase compress(CaseMaker& make) {
  Tile tile = make.tile(make.shape());
  const std::int64_t dims = make.misfit() ? 9 : make.random.between(0, tile.rank());
  return make.made({std::move(tile)}, {{"sparse_dims", dims}});
}

}  // namespace

Generators rearrangement_generators() {
  return {{"transpose", transpose},
          {"permute", permute},
          {"reshape", reshape},
          {"slice", slice},
          {"diag", diag},
          {"tile", tile},
          {"pad", pad},
          {"cast", cast},
          {"concat", concat},
          {"compress", compress},
          {"assemble", assemble},
          {"expand_dims", expand_dims},
          {"cumsum", scan},
          {"cumprod", scan}};
}

}  // namespace tessera
