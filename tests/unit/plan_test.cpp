#include <gtest/gtest.h>

#include "support/expectations.h"

namespace tessera {
namespace {

Plan tiled(const Shape& shape, const Shape& tile, const std::string& name = "A") {
  return Plan::input(Relation::from_tensor(random_integers(DType::f64, shape, 1, -5, 6), tile),
                     name);
}

Tile whole(const Plan& plan) { return plan.run().to_tensor(); }

TEST(Plan, ExplainsEveryOperator) {
  const Plan a = tiled({4, 6}, {2, 2});
  const Plan plan = a.join(a, {1}, {1}, "matmul(transpose_b=true)").aggregate({0, 2}, "add");
  EXPECT_EQ(plan.explain(),
            "Aggregate by <0, 2> with add                    <2, 2> -> f64[2x2], 4 tuples\n"
            "  Join <1> = <1> with matmul(transpose_b=true)  <2, 3, 2> -> f64[2x2], 12 tuples\n"
            "    Input A                                     <2, 3> -> f64[2x2], 6 tuples\n"
            "    Input A                                     <2, 3> -> f64[2x2], 6 tuples\n");
}

TEST(Plan, ShapesThatAreNoMultipleOfTheTile) {
  const Plan a = tiled({5, 7}, {2, 3});
  const Plan b = tiled({7, 4}, {3, 3}, "B");
  const Plan product = a.join(b, {1}, {0}, "matmul").aggregate({0, 2}, "add");
  EXPECT_TILE_EQ(whole(product), KernelCall("matmul")({whole(a), whole(b)}));
  EXPECT_EQ(product.type(), product.run().type());
}

TEST(Plan, SeveralPayloadColumns) {
  const Plan a = tiled({4, 4}, {2, 2});
  const Plan both = a.transform({Apply("identity", {0}, {"x"}), Apply("square", {0}, {"xx"})});
  EXPECT_EQ(to_string(both.type()), "<2, 2> -> x f64[2x2], xx f64[2x2]");
  const Plan folded = both.aggregate({}, {KernelCall("maximum"), KernelCall("add")});
  const Plan joined =
      both.join(both, {0, 1}, {0, 1}, {Apply("sub", {1, 3}, {"d"}), Apply("mul", {0, 2})});
  EXPECT_EQ(folded.run().type().columns.size(), 2U);
  EXPECT_TILE_EQ(joined.run().to_tensor(0), Tile::zeros(DType::f64, {4, 4}));
  EXPECT_TILE_EQ(joined.run().to_tensor(1), KernelCall("square")({whole(a)}));
  EXPECT_EQ(joined.run().type().columns[0].name, "d");
}

TEST(Plan, AColumnMayStayAsItIs) {
  const Plan a = tiled({4, 6}, {2, 3});
  const Plan both = a.transform({Apply("neg", {0}), Apply::column(0, "x")});
  EXPECT_EQ(describe(operator_of(both)), "Transform with neg; column 0");
  EXPECT_EQ(to_string(both.type()), "<2, 2> -> f64[2x3], x f64[2x3]");
  const Plan swapped = both.transform({Apply::column(1), Apply::column(0)});
  EXPECT_TILE_EQ(swapped.run().to_tensor(0), whole(a));
  EXPECT_TILE_EQ(swapped.run().to_tensor(1), KernelCall("neg")({whole(a)}));
  // Of a join, also where its tuples are summed as they come.
  const Plan right = a.join(a, {0}, {0}, Apply::column(1)).aggregate({0, 2}, "add");
  EXPECT_TILE_EQ(whole(right), KernelCall("mul_scalar(value=2)")({whole(a)}));
  EXPECT_EQ(plans_from_bytes(to_bytes({both}), [&](const auto&, const auto&) { return a; })
                .front()
                .explain(),
            both.explain());
  EXPECT_EQ(message_of<TypeError>([&] { (void)a.transform(Apply::column(1)); }),
            "Transform: column 1 does not exist: there are 1 columns");
}

TEST(Plan, KernelsOfSeveralOutputsMakeSeveralColumns) {
  const Plan a = tiled({4, 4}, {4, 4});
  const Plan parts = a.transform(Apply("qr", {0}, {"q", "r"}));
  EXPECT_EQ(to_string(parts.type()), "<1, 1> -> q f64[4x4], r f64[4x4]");
  const Relation back = parts.transform(Apply("matmul", {0, 1})).run();
  for (std::int64_t i = 0; i < 4; ++i)
    EXPECT_NEAR(back.to_tensor().at<double>({i, 2}), whole(a).at<double>({i, 2}), 1e-12);
}

TEST(Plan, SparseRelationsBehaveAsIfTheirZerosWereThere) {
  const Tile x = Tile::of<double>({4, 5}, {0, 0, 0, 0, 0,  0, 0, 0, 0, 0,  //
                                           1, 2, 0, 0, -3, 4, 0, 0, 0, 5});
  const Tile y = Tile::of<double>({4, 5}, {0, 0, 0, 0, 1, 0, 0, 0, 0, 0,  //
                                           0, 0, 0, 0, 7, 0, 0, 0, 0, 0});
  const Plan sx = Plan::input(Relation::from_tensor(x, {2, 2}, Presence::sparse), "X");
  const Plan sy = Plan::input(Relation::from_tensor(y, {2, 2}, Presence::sparse), "Y");
  const Plan dx = Plan::input(Relation::from_tensor(x, {2, 2}), "X");
  const Plan dy = Plan::input(Relation::from_tensor(y, {2, 2}), "Y");
  for (const char* kernel : {"add", "sub", "mul", "maximum", "equal", "less"})
    EXPECT_TILE_EQ(whole(sx.join(sy, {0, 1}, {0, 1}, kernel)),
                   whole(dx.join(dy, {0, 1}, {0, 1}, kernel)))
        << kernel;
  for (const char* kernel : {"neg", "exp", "relu", "add_scalar(value=1)"})
    EXPECT_TILE_EQ(whole(sx.transform(kernel)), whole(dx.transform(kernel))) << kernel;
  const Plan rows = dx.transform("max").aggregate({0}, "maximum");
  EXPECT_EQ(sx.transform("max").aggregate({0}, "maximum").run().at({0}).at<double>({}),
            rows.run().at({0}).at<double>({}));
  const Plan gram = sx.join(sy, {0}, {0}, "matmul(transpose_a=true)").aggregate({1, 2}, "add");
  EXPECT_EQ(gram.run().type().presence, Presence::sparse);
  EXPECT_TILE_EQ(whole(gram),
                 whole(dx.join(dy, {0}, {0}, "matmul(transpose_a=true)").aggregate({1, 2}, "add")));
  EXPECT_EQ(sx.rekey("<k1, k0>").run().type().presence, Presence::sparse);
  // A filter takes keys away; the zeros among those that stay are filled in.
  const Relation left = sx.filter("k0 = 0 and k1 = 1").run(Holes::allowed);
  EXPECT_EQ(left.size(), 1);
  EXPECT_TILE_EQ(left.tuples()[0].tiles[0], Tile::zeros(DType::f64, {2, 2}));
}

TEST(Plan, TileAndConcatOfArraysThatDoNotDivide) {
  const Plan a = tiled({2, 7}, {2, 4});  // tiles of 4 and 3 columns
  const Plan cut = a.tile(1, 2);
  EXPECT_EQ(cut.run().size(), 4);
  EXPECT_EQ(cut.type(), cut.run().type());
  const Plan back = cut.concat(2, 1);
  EXPECT_EQ(back.type(), a.type());
  EXPECT_TILE_EQ(whole(back), whole(a));
  const Plan uneven = a.tile(1, 3);  // pieces of 3, 1, 3 and 0 columns
  EXPECT_EQ(uneven.run().at({0, 1, 1}).shape(), Shape({2, 0}));
  EXPECT_TILE_EQ(whole(uneven.concat(2, 1)), whole(a));
}

TEST(Plan, TuplesMayFitWhereBoundsDoNot) {
  const Plan one = Plan::input(Relation::of({{{0}, {Tile::full(DType::f64, {1, 1}, 3)}}}), "one");
  const Plan two = Plan::input(Relation::of({{{0}, {Tile::full(DType::f64, {1, 1}, 5)}},
                                             {{1}, {Tile::zeros(DType::f64, {2, 1})}}}),
                               "two");
  const Plan product = one.join(two, {0}, {0}, Apply("matmul", {}, {"p"}));
  EXPECT_EQ(to_string(product.type()), "<1> -> p f64[1x1]");
  EXPECT_EQ(product.run().at({0}).at<double>({0, 0}), 15);
  EXPECT_ERROR(TypeError, one.join(two, {}, {}, "matmul"), "(at key <0, 1> of Join");
}

TEST(Plan, DeepPlansNeedNoDeepStack) {
  Plan plan = tiled({2, 2}, {2, 2});
  const Tile before = whole(plan);
  for (int i = 0; i < 100'000; ++i) plan = plan.transform("neg");
  RunOptions options;
  options.memory_limit = std::int64_t{2} << 30;  // the plan itself takes much
  EXPECT_TILE_EQ(plan.run(options).to_tensor(), before);
  EXPECT_NE(plan.explain().find("(100000 deep) Input A"), std::string::npos);
}

TEST(Plan, ConcatOfManyTiles) {
  const Plan a = tiled({1000, 2}, {1, 2});
  EXPECT_TILE_EQ(a.concat(0, 0).run().tuples()[0].tiles[0], whole(a));
}

TEST(Plan, ExtentsThatCannotBeCountedAreRefused) {
  const std::int64_t huge = std::int64_t{1} << 40;
  const Plan p = Plan::input(RelationType{{{"", {DType::f64, {huge}}}}, {huge}}, "P");
  EXPECT_ERROR(TypeError, p.concat(0, 0), "more than 2^63 elements");
  EXPECT_ERROR(TypeError, Plan::input(RelationType{{{"", {DType::f64, {-5}}}}, {1}}, "P"),
               "negative dimensions are not allowed");
  EXPECT_ERROR(PlanError, Relation::of({{{INT64_MAX}, {Tile()}}}, Presence::sparse),
               "is not in the range 0 to 2^62");
}

TEST(Plan, CollisionsAreFoundBeforeAnythingRuns) {
  const Plan a = tiled({4, 4}, {2, 2});
  const Plan collide = a.rekey("<i, j> -> <i + j>");
  EXPECT_EQ(collide.closedness().unique.answer, Answer::no);
  EXPECT_ERROR(PlanError, collide.run(), "ReKey <k0 + k1>: ");
  EXPECT_ERROR(PlanError, collide.run(), "<0, 1> and <1, 0>");
  EXPECT_ERROR(PlanError, collide.run(), "<1>; keys must be unique");
  EXPECT_ERROR(PlanError, a.rekey("<k0 - 1, k1>").run(), "negative");
}

TEST(Plan, HolesAreRefusedUnlessAllowed) {
  const Plan a = tiled({4, 4}, {2, 2});
  EXPECT_ERROR(PlanError, a.filter("k0 = k1").run(),
               "Filter k0 = k1: key <0, 1> below the frontier <2, 2> is missing");
  EXPECT_EQ(a.filter("k0 = k1").run(Holes::allowed).size(), 2);
  EXPECT_EQ(a.filter("k0 < 1").run().frontier(), Key({1, 2}));
  EXPECT_EQ(a.filter("k0 > 7").run().size(), 0);
  EXPECT_ERROR(PlanError, a.filter("k0 = 1").concat(0, 0).run(),
               "Concat key 0 along dimension 0: key <0, 0> is missing");
}

TEST(Plan, OpaqueFunctionsAreCheckedAtRunTime) {
  const Plan a = tiled({4, 4}, {2, 2});
  const auto swap = KeyFunction::opaque("swap", 2, [](const Key& k) { return Key{k[1], k[0]}; });
  EXPECT_EQ(a.rekey(swap).run().frontier(), Key({2, 2}));
  const auto collide = KeyFunction::opaque("zero", 1, [](const Key&) { return Key{0}; });
  EXPECT_ERROR(PlanError, a.rekey(collide).run(), "keys must be unique");
}

TEST(Plan, ErrorsNameTheOperatorTheShapesAndTheKey) {
  const Plan a = tiled({4, 6}, {2, 2});
  const Plan b = tiled({4, 6}, {2, 3}, "B");
  EXPECT_ERROR(TypeError, a.join(b, {1}, {0}, "matmul(transpose_b=true)"), "f64[2x2] and f64[2x3]");
  EXPECT_ERROR(TypeError, a.join(b, {1}, {0, 1}, "matmul"),
               "Join: 1 key components on the left, 2 on the right");
  EXPECT_ERROR(TypeError, a.join(b, {2}, {0}, "matmul"),
               "Join, left keys: key component 2 does not exist: keys have 2 components");
  EXPECT_ERROR(TypeError, a.aggregate({0, 0}, "add"), "Aggregate: key component 0 is listed twice");
  EXPECT_ERROR(TypeError, a.aggregate({0}, "equal"),
               "an aggregation of f64[2x2] and f64[2x2] must have the same type, but equal returns "
               "bool[2x2]");
  EXPECT_ERROR(TypeError, a.aggregate({0}, "neg"), "neg takes 1 argument, not 2");
  EXPECT_ERROR(TypeError, a.rekey("<k2>"),
               "ReKey <k2>: key component k2 does not exist: keys have 2 components");
  EXPECT_ERROR(TypeError, a.filter("k5 = 0"), "key component k5 does not exist");
  EXPECT_ERROR(TypeError, a.transform("matmlu"),
               "kernel \"matmlu\" not found; did you mean \"matmul\"?");
  EXPECT_ERROR(TypeError, a.transform("sum(axis=[0])"),
               "sum: parameter \"axis\" not found; did you mean \"axes\"?");
  EXPECT_ERROR(TypeError, a.transform(Apply("add", {0, 1})),
               "column 1 does not exist: there are 1 columns");
  EXPECT_ERROR(TypeError, a.tile(2, 1), "Tile: dimension 2 does not exist in f64[2x2]");
  EXPECT_ERROR(TypeError, a.tile(0, 0), "Tile: size 0 is not positive");
  EXPECT_ERROR(TypeError, a.concat(0, 3), "Concat: dimension 3 does not exist in f64[2x2]");
  EXPECT_ERROR(
      TypeError, tiled({3, 2}, {2, 2}).aggregate({1}, "add"),
      "add: f64[2x2] and f64[1x2] are in the same group, but have different shapes (at key <1, 0>");
  const Tile singular = Tile::zeros(DType::f64, {2, 2});
  EXPECT_ERROR(ValueError,
               Plan::input(Relation::of({{{0}, {singular}}}), "S").transform("inverse").run(),
               "singular");
  EXPECT_ERROR(ValueError,
               Plan::input(Relation::of({{{0}, {singular}}}), "S").transform("inverse").run(),
               "(at key <0> of Transform with inverse)");
  EXPECT_ERROR(ParseError, a.filter("k0 = "), "");
  EXPECT_ERROR(ParseError, a.transform("sum(axes=[0)"),
               "kernel call 'sum(axes=[0)', column 12: expected ']'");
}

TEST(Plan, AKernelThatThrowsIsReportedWithItsKey) {
  register_kernel(
      {.name = "throws_for_testing",
       .description = "fails on purpose",
       .infer = [](Types types,
                   const Params&) { return std::vector<TileType>(types.begin(), types.end()); },
       .implementations = {{.name = "throw", .run = [](Tiles, const Params&) -> std::vector<Tile> {
                              throw std::runtime_error("the disk is on fire");
                            }}}});
  EXPECT_ERROR(ValueError, tiled({2, 2}, {1, 2}).transform("throws_for_testing").run(),
               "throws_for_testing: the disk is on fire (at key <0, 0> of Transform with "
               "throws_for_testing)");
}

TEST(Plan, AKernelThatContradictsItsInferenceIsReported) {
  register_kernel(
      {.name = "lies_for_testing",
       .description = "says one type and yields another",
       .infer = [](Types types,
                   const Params&) { return std::vector<TileType>(types.begin(), types.end()); },
       .implementations = {{.name = "lie", .run = [](Tiles, const Params&) {
                              return std::vector<Tile>{Tile::scalar(1.0)};
                            }}}});
  EXPECT_ERROR(TypeError, KernelCall("lies_for_testing")({Tile::zeros(DType::f64, {2})}),
               "output 0 is f64[], inferred as f64[2]");
  EXPECT_ERROR(TypeError, register_kernel({.name = "lies_for_testing"}),
               "needs a name, an infer function and an implementation");
  EXPECT_ERROR(TypeError, register_alias("matMul", "add"), "kernel \"matMul\" already exists");
}

TEST(Plan, OnlyTheTypeIsNeededToExplain) {
  const Plan p = Plan::input(RelationType{{{"", {DType::f64, {4000, 4000}}}}, {100, 100}}, "P");
  const Plan product = p.join(p, {1}, {0}, "matmul").aggregate({0, 2}, "add");
  EXPECT_EQ(product.cardinality().tuples, 10000);
  EXPECT_TRUE(product.cardinality().exact);
  EXPECT_ERROR(PlanError, product.run(), "Input P has a type but no tuples");
}

TEST(Plan, KeysThatAreTooManyToListAreNotTakenForNone) {
  const Relation far =
      Relation::of({{{0}, {Tile::scalar(2.0)}}, {{1200}, {Tile::scalar(3.0)}}}, Presence::partial);
  const Plan p = Plan::input(far, "far");
  const Plan pairs = p.join(p, {}, {}, "mul").rekey("<k1, k0>");
  EXPECT_FALSE(pairs.cardinality().exact);
  EXPECT_FALSE(pairs.filter("k0 > 0").cardinality().exact);
  RunOptions options;
  options.holes = Holes::allowed;
  EXPECT_EQ(pairs.filter("k0 > 0").join(p, {0}, {0}, "mul").run(options).size(), 2);
}

TEST(Plan, EmptyRelations) {
  const RelationType type{{{"", {DType::f64, {2, 2}}}}, {0, 0}};
  const Plan none = Plan::input(Relation::empty(type), "none");
  EXPECT_EQ(none.join(none, {1}, {0}, "matmul").aggregate({0, 2}, "add").run().size(), 0);
  EXPECT_EQ(none.transform("exp").filter("k0 = 0").rekey("<k0>").run().size(), 0);
}

TEST(Plan, NothingTimesZerosIsNothing) {
  const RelationType type{{{"", {DType::f64, {2, 2}, 0}}}, {0, 0}};
  const Plan none = Plan::input(Relation::empty(type), "none").aggregate({}, "add");
  const Relation zeros =
      Relation::from_tensor(Tile::zeros(DType::f64, {6, 4}, 1), {2, 2}, Presence::sparse);
  for (const char* kernel : {"mul", "add"}) {
    const Plan product = none.join(Plan::input(zeros, "Z"), {}, {}, kernel);
    const Relation result = product.interpret(Holes::allowed);
    EXPECT_EQ(result.size(), 0);
    EXPECT_EQ(result.frontier(), product.frontier()) << kernel;
    EXPECT_EQ(product.run(Holes::allowed).size(), 0);
  }
}

}  // namespace
}  // namespace tessera
