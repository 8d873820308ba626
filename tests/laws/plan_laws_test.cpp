// What must hold of random plans: what is inferred before running is what running yields, and
// tiled, sparse and ragged relations compute what the whole tensor does.

#include <gtest/gtest.h>

#include <random>

#include "support/expectations.h"

namespace tessera {
namespace {

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  std::int64_t between(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }

  Tile tensor(const Shape& shape) {
    // Blocks of zeros, so that sparse relations lack tiles.
    const Tile values = random_integers(DType::i64, shape, random_(), -3, 4);
    const Tile mask = random_integers(DType::i64, shape, random_(), 0, between(1, 4));
    const Tile result = KernelCall("mul")({values, mask});
    return result.with_sparse_dims(static_cast<int>(between(0, shape.rank())));
  }

  Relation relation(const Tile& tensor) {
    Shape tile;
    for (std::int64_t extent : tensor.shape())
      tile.push_back(between(1, std::max<std::int64_t>(1, extent)));
    const Presence presence = between(0, 2) == 0 ? Presence::sparse : Presence::continuous;
    return Relation::from_tensor(tensor, tile, presence);
  }

  Plan random_plan(int depth) {
    if (depth == 0) {
      Shape shape;
      for (std::int64_t i = between(1, 3); i > 0; --i) shape.push_back(between(1, 7));
      return Plan::input(relation(tensor(shape)), "T");
    }
    const Plan in = random_plan(depth - 1);
    const int arity = in.type().arity();
    const int rank = in.type().columns[0].type.shape.rank();
    switch (between(0, 7)) {
      case 0: {
        std::vector<int> group;
        for (int i = 0; i < arity; ++i)
          if (between(0, 1) == 0) group.push_back(i);
        return in.aggregate(group, between(0, 1) == 0 ? "add" : "maximum");
      }
      case 1: {
        std::vector<int> on;
        for (int i = 0; i < arity; ++i)
          if (between(0, 2) > 0) on.push_back(i);
        const char* kernels[] = {"add", "mul", "maximum", "sub"};
        return in.join(in, on, on, kernels[between(0, 3)]);
      }
      case 2: {
        const char* functions[] = {
            "<k0>", "<2*k0>", "<k0 + 1>", "<k0 div 2>", "<k0 div 2, k0 mod 2>", "<0, k0>"};
        const char* more[] = {"<k1, k0>", "<k0, k0 + k1>", "<k0 mod 2, k1>", "<k0 * 8 + k1>"};
        if (arity == 1) return in.rekey(functions[between(0, 5)]);
        return arity == 2 ? in.rekey(more[between(0, 3)]) : in;
      }
      case 3: {
        const char* predicates[] = {"k0 < 2", "k0 mod 2 = 0", "k0 = 1 or k0 = 2", "true"};
        return arity == 0 ? in : in.filter(predicates[between(0, 3)]);
      }
      case 4: {
        const char* kernels[] = {"neg",  "abs",       "add_scalar(value=2)",
                                 "relu", "transpose", "sum(axes=[0])"};
        return in.transform(kernels[rank == 0 ? between(0, 3) : between(0, 5)]);
      }
      case 5:
        return rank == 0 ? in : in.tile(static_cast<int>(between(0, rank - 1)), between(1, 4));
      case 6:
        return rank == 0 || arity == 0 ? in
                                       : in.concat(static_cast<int>(between(0, arity - 1)),
                                                   static_cast<int>(between(0, rank - 1)));
      default: return in;
    }
  }

 private:
  std::mt19937_64 random_;
};

TEST(PlanLaws, WhatIsInferredIsWhatRunningYields) {
  int ran = 0;
  int refused = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    Generator generator(seed);
    std::optional<Plan> plan;
    try {
      plan = generator.random_plan(static_cast<int>(generator.between(1, 5)));
      const Relation result = plan->interpret(Holes::allowed);
      ++ran;
      ASSERT_TRUE(plan->cardinality().exact);
      EXPECT_EQ(plan->cardinality().tuples, result.size()) << "seed " << seed << "\n"
                                                           << plan->explain();
      if (result.size() > 0)
        EXPECT_EQ(to_string(plan->type()), to_string(result.type())) << "seed " << seed << "\n"
                                                                     << plan->explain();
    } catch (const InternalError& error) {
      FAIL() << "seed " << seed << ": " << error.what();
    } catch (const Error& error) {
      ++refused;  // collisions, shapes that do not fit: random plans are allowed to be wrong
    }
  }
  EXPECT_GT(ran, 1500);
  EXPECT_GT(refused, 50);
  RecordProperty("ran", ran);
}

TEST(PlanLaws, TiledMatrixProductsEqualTheWholeOne) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Generator g(seed);
    const Tile a = g.tensor({g.between(1, 9), g.between(1, 9)});
    const Tile b = g.tensor({a.shape()[1], g.between(1, 9)});
    const std::int64_t k = g.between(1, a.shape()[1]);
    const Presence left = g.between(0, 1) == 0 ? Presence::sparse : Presence::continuous;
    const Presence right = g.between(0, 1) == 0 ? Presence::sparse : Presence::continuous;
    const Plan pa = Plan::input(Relation::from_tensor(a, {g.between(1, 9), k}, left), "A");
    const Plan pb = Plan::input(Relation::from_tensor(b, {k, g.between(1, 9)}, right), "B");
    const Relation product = pa.join(pb, {1}, {0}, "matmul").aggregate({0, 2}, "add").run();
    const Tile whole = KernelCall("matmul")({a.dense(), b.dense()});
    EXPECT_TILE_EQ(product.to_tensor(), whole) << "seed " << seed;
  }
}

TEST(PlanLaws, ConcatUndoesTile) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Generator g(seed);
    const Shape shape{g.between(0, 8), g.between(1, 8)};
    const Relation r = Relation::from_tensor(g.tensor(shape), {g.between(1, 8), g.between(1, 8)});
    const int dimension = static_cast<int>(g.between(0, 1));
    const Plan plan = Plan::input(r, "T").tile(dimension, g.between(1, 9)).concat(2, dimension);
    EXPECT_EQ(to_string(plan.type()), to_string(r.type())) << "seed " << seed;
    EXPECT_TILE_EQ(plan.run().to_tensor(), r.to_tensor()) << "seed " << seed;
  }
}

TEST(PlanLaws, ElementwiseOperationsDoNotSeeTheTiling) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Generator g(seed);
    const Shape shape{g.between(1, 8), g.between(1, 8)};
    const Tile x = g.tensor(shape);
    const Tile y = g.tensor(shape);
    const Shape tile{g.between(1, 8), g.between(1, 8)};
    for (const char* kernel : {"add", "sub", "mul", "maximum", "less_equal"}) {
      const Plan px = Plan::input(Relation::from_tensor(x, tile, Presence::sparse), "X");
      const Plan py = Plan::input(Relation::from_tensor(y, tile), "Y");
      const Relation result = px.join(py, {0, 1}, {0, 1}, kernel).run();
      const Tile expected = KernelCall(kernel)({x.dense(), y.dense()});
      EXPECT_TILE_EQ(result.to_tensor(), expected) << kernel << " seed " << seed;
    }
  }
}

}  // namespace
}  // namespace tessera
