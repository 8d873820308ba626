#include "support/rounding_plans.h"

#include "tessera/tessera.h"

namespace tessera {
namespace {

/// Extents of one dimension: of the tensor, and of its tiles.
struct Extent {
  std::int64_t whole, tile;
};

class Maker {
 public:
  explicit Maker(Random& random)
      : random_(random), dtype_(random.chance(0.5) ? DType::f64 : DType::f32) {}

  Plan plan() {
    if (random_.chance(0.1)) return convolution();
    if (random_.chance(0.15)) return factors();
    if (random_.chance(0.1)) return contraction();
    rows_ = extent(), columns_ = extent();
    Plan plan = input(rows_, columns_);
    for (std::int64_t steps = random_.between(1, 4); steps > 0; --steps) plan = grown(plan);
    return ended(plan);
  }

 private:
  /// Small, larger than what is cut into blocks, and in between; most do not divide evenly.
  Extent extent() {
    const std::int64_t tile = random_.chance(0.15)
                                  ? random_.between(480, 700)
                                  : random_.pick(std::vector<std::int64_t>{1, 9, 40, 96, 130, 250});
    const std::int64_t most = std::max<std::int64_t>(1, std::min<std::int64_t>(5, 900 / tile));
    return {random_.between(1, most * tile), tile};
  }

  Plan input(Extent rows, Extent columns) {
    const Shape shape{rows.whole, columns.whole};
    const std::uint64_t seed = random_.bits();
    const Tile tensor = random_.chance(0.15) ? random_sparse({dtype_, shape, 1}, seed, 0.1)
                                             : random_normal(dtype_, shape, seed);
    return Plan::input(Relation::from_tensor(tensor, {rows.tile, columns.tile}), "X");
  }

  /// One more operator on a matrix of rows_ and columns_.
  Plan grown(const Plan& plan) {
    switch (random_.between(0, 5)) {
      case 0: {
        std::swap(rows_, columns_);
        return plan.rekey("<k1, k0>").transform("transpose");
      }
      case 1: {
        const Extent wanted = extent();
        const Plan other = input(wanted, columns_);
        columns_ = wanted;
        return plan.join(other, {1}, {1}, "matmul(transpose_b=true)").aggregate({0, 2}, "add");
      }
      case 2: return plan.join(input(rows_, columns_), {0, 1}, {0, 1}, "mul");
      case 3: {
        const Plan turned = plan.rekey("<k1, k0>").transform("transpose");
        columns_ = rows_;
        return plan.join(turned, {1}, {0}, "matmul").aggregate({0, 2}, "add");
      }
      default: {
        const Extent wanted = extent();
        const Plan other = input(columns_, wanted);
        columns_ = wanted;
        return plan.join(other, {1}, {0}, "matmul").aggregate({0, 2}, "add");
      }
    }
  }

  Plan ended(const Plan& plan) {
    switch (random_.between(0, 6)) {
      case 0: return plan.transform("sum(axes=[1])").aggregate({0}, "add");
      case 1: return plan.transform("sum").aggregate({}, "add");
      case 2: {
        const Tile vector = random_normal(dtype_, {columns_.whole}, random_.bits());
        const Plan x = Plan::input(Relation::from_tensor(vector, {columns_.tile}), "x");
        return plan.join(x, {1}, {0}, "matmul").aggregate({0}, "add");
      }
      case 3: return plan.transform("softmax");
      case 4: return plan.transform("sum(axes=[0])").aggregate({1}, "add");
      default: return plan;
    }
  }

  Plan factors() {
    const std::int64_t size = random_.between(2, 200), tiles = random_.between(1, 4);
    const Tile tensor = random_normal(dtype_, {size * tiles, size}, random_.bits());
    const Plan plan = Plan::input(Relation::from_tensor(tensor, {size, size}), "S");
    const Plan square = plan.join(plan, {0, 1}, {0, 1}, "matmul(transpose_b=true)");
    switch (random_.between(0, 5)) {
      case 0: return plan.transform("qr").aggregate({}, std::vector<KernelCall>{"add", "add"});
      case 1:
        return plan.transform("svd").aggregate({}, std::vector<KernelCall>{"add", "add", "add"});
      case 2: return square.transform("eigh");
      case 3: return square.transform("cholesky").aggregate({}, "add");
      case 4: return plan.join(square, {0, 1}, {0, 1}, "solve").aggregate({}, "add");
      default: {
        const Plan inverse = plan.transform("inverse");
        return inverse.join(plan, {0, 1}, {0, 1}, "matmul").aggregate({}, "add");
      }
    }
  }

  /// A contraction of two tensors of order 3 over two of their dimensions.
  Plan contraction() {
    const Extent i = extent(), l = extent();
    const Extent j{random_.between(1, 40), random_.between(1, 20)}, k{j.tile, 7};
    const auto cube = [&](Extent a, Extent b, Extent c, const char* name) {
      const Tile tensor = random_normal(dtype_, {a.whole, b.whole, c.whole}, random_.bits());
      return Plan::input(Relation::from_tensor(tensor, {a.tile, b.tile, c.tile}), name);
    };
    return cube(i, j, k, "X")
        .join(cube(j, k, l, "Y"), {1, 2}, {0, 1},
              KernelCall("einsum", {{"spec", std::string("ijk,jkl->il")}}))
        .aggregate({0, 3}, "add");
  }

  Plan convolution() {
    const std::int64_t channels = random_.between(1, 20), filters = random_.between(1, 20);
    const std::int64_t side = random_.between(3, 40), images = random_.between(1, 6);
    const Tile pictures = random_normal(dtype_, {images, channels, side, side}, random_.bits());
    const Tile weights = random_normal(dtype_, {filters, channels, 3, 3}, random_.bits());
    const Plan x = Plan::input(Relation::from_tensor(pictures, {1, channels, side, side}), "X");
    const Plan w = Plan::input(Relation::from_tensor(weights, weights.shape()), "W");
    const Plan both = x.join(w, {1}, {1}, "conv(padding=1)");
    return both.aggregate({0}, "add");
  }

  Random& random_;
  const DType dtype_;
  Extent rows_{1, 1}, columns_{1, 1};
};

}  // namespace

Plan rounding_plan(Random& random) { return Maker(random).plan(); }

}  // namespace tessera
