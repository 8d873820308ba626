// The derivations of Yuan et al., section 5.2, step by step: diag(X + Y) by the simple rules of
// table 2, and the copies that a replicated product is made of.

#include <gtest/gtest.h>

#include "ia/evaluate.h"
#include "support/expectations.h"
#include "support/paper_plans.h"
#include "support/rewrite_at.h"

namespace tessera {
namespace {

constexpr int four_sites = 4;

/// The operators from the root down, each indented by how deep it is.
std::string outline(const ia::Plan& plan, std::size_t depth = 0) {
  std::string lines = std::string(depth, ' ') + ia::describe(plan) + "\n";
  for (const ia::Plan& input : ia::inputs_of(ia::operator_of(plan)))
    lines += outline(input, depth + 1);
  return lines;
}

// --- section 5.2.1: the diagonal of a sum
// ---------------------------------------------------------

/// diag(X + Y) of matrices of 6x6 in tiles of 2x2, which lie on four sites, as the paper writes it.
/// Rules are applied to it one after the other.
class DiagonalOfSum {
 public:
  DiagonalOfSum()
      : plan_(ia::translate(logical(), placed_on({{"X", {0, 1}}, {"Y", {0, 1}}}, four_sites))) {}

  /// Applies a rule to the operator that is described so, and to which it applies.
  DiagonalOfSum& apply(const std::string& rule, const std::string& described) {
    std::string why_not = "there is no such operator";
    for (const ia::Plan& node : ia::in_order(plan_))
      if (ia::describe(node) == described) {
        const optimizer::Rewrite rewrite = rewrite_at(plan_, node, rule_named(rule));
        if (rewrite) {
          plan_ = *rewrite.plan;
          return *this;
        }
        why_not = rewrite.why_not;
      }
    ADD_FAILURE() << rule << " at " << described << ": " << why_not << "\n" << outline(plan_);
    return *this;
  }

  /// What the plan is now, and the floats that cross between the sites; it always computes the
  /// same.
  void expect(const std::string& operators, double floats) const {
    EXPECT_EQ(outline(plan_), operators);
    EXPECT_EQ(cost_of(plan_).total.floats_moved, floats);
    EXPECT_TILE_EQ(ia::interpret(plan_).to_tensor(),
                   KernelCall("diag")({KernelCall("add")({whole(1), whole(2)})}));
  }

 private:
  static Tile whole(std::uint64_t seed) { return random_integers(DType::f64, {6, 6}, seed, -9, 9); }
  static Plan input(const std::string& name, std::uint64_t seed) {
    return Plan::input(Relation::from_tensor(whole(seed), {2, 2}), name);
  }
  static Plan logical() {
    return input("X", 1)
        .join(input("Y", 2), {0, 1}, {0, 1}, "matAdd")
        .filter("k0 = k1")          // isEq
        .rekey("<k0, k1> -> <k0>")  // merge
        .transform("diag");
  }
  ia::Plan plan_;
};

TEST(TraRules, Section521AsPrinted) {
  DiagonalOfSum plan;
  plan.expect(
      "Map with diag\n"
      " Map <k0>\n"
      "  Filter k0 = k1\n"
      "   Join <0, 1> = <0, 1> with add\n"
      "    BCAST\n"
      "     Input X\n"
      "    Input Y\n",
      3 * 36);                                // X to the three sites that lack a number each
  plan.apply("merge_maps", "Map with diag");  // R1-2
  plan.expect(
      "Map <k0> with diag\n"
      " Filter k0 = k1\n"
      "  Join <0, 1> = <0, 1> with add\n"
      "   BCAST\n"
      "    Input X\n"
      "   Input Y\n",
      3 * 36);
  plan.apply("filter_before_join", "Filter k0 = k1");  // R1-6
  plan.expect(
      "Map <k0> with diag\n"
      " Join <0, 1> = <0, 1> with add\n"
      "  Filter k0 = k1\n"
      "   BCAST\n"
      "    Input X\n"
      "  Filter k0 = k1\n"
      "   Input Y\n",
      3 * 36);
  plan.apply("filter_before_move", "Filter k0 = k1");  // R2-2
  plan.expect(
      "Map <k0> with diag\n"
      " Join <0, 1> = <0, 1> with add\n"
      "  BCAST\n"
      "   Filter k0 = k1\n"
      "    Input X\n"
      "  Filter k0 = k1\n"
      "   Input Y\n",
      3 * 12);  // of three tiles
  // R1-7. As printed, the join would go by merge(<0, 1>) = <0> and leave <k0, k1, k1'>: what is
  // renamed is the key of its result.
  plan.apply("map_into_join", "Map <k0> with diag");
  plan.expect(
      "Join <0, 1> = <0, 1> with add then diag to <k0>\n"
      " BCAST\n"
      "  Filter k0 = k1\n"
      "   Input X\n"
      " Filter k0 = k1\n"
      "  Input Y\n",
      3 * 12);
}

/// "Addition will only be applied for the diagonal elements": that takes the second form of R1-7,
/// diag on each side of the sum, which keys that are merged at the same time hide.
TEST(TraRules, Section521AddsOnlyDiagonals) {
  DiagonalOfSum plan;
  plan.apply("filter_before_join", "Filter k0 = k1")  // R1-6
      .apply("filter_before_move", "Filter k0 = k1")  // R2-2
      .apply("map_into_join", "Map <k0>")             // R1-7
      .apply("map_before_join", "Map with diag")      // R1-7, second form
      .apply("map_before_move", "Map with diag");     // R2-3
  plan.expect(
      "Join <0, 1> = <0, 1> with add to <k0>\n"
      " BCAST\n"
      "  Map with diag\n"
      "   Filter k0 = k1\n"
      "    Input X\n"
      " Map with diag\n"
      "  Filter k0 = k1\n"
      "   Input Y\n",
      3 * 6);  // of three diagonals
}

// --- section 5.2.2: copies for a replicated product
// -----------------------------------------------

Tile square_of(std::initializer_list<double> values) { return Tile::of<double>({2, 2}, values); }

/// The relation that the section copies.
Relation four_blocks() {
  return Relation::of({{{0, 0}, {square_of({1, 2, 3, 4})}},
                       {{0, 1}, {square_of({5, 6, 7, 8})}},
                       {{1, 0}, {square_of({9, 10, 11, 12})}},
                       {{1, 1}, {square_of({13, 14, 15, 16})}}});
}

TEST(TraRules, Section522Duplicates) {
  const ia::Plan x =
      ia::Plan::input(Plan::input(four_blocks(), "X"), Placement::part({0}, {2, 2}, 2));
  const Relation copies = ia::interpret(x.duplicate(/*position=*/2, /*count=*/2));
  ASSERT_EQ(copies.size(), 8);
  const Relation original = four_blocks();
  for (const Tuple& tuple : original.tuples())
    for (const std::int64_t copy : {0, 1})
      EXPECT_TILE_EQ(copies.at({tuple.key[0], tuple.key[1], copy}), tuple.tiles[0]);
}

/// The three implementations of a product, of X in 2 x 2 tiles and Y in 2 x 3: xDups is 3, and
/// yDups is 2.
TEST(TraRules, Section522ThreeImplementations) {
  const Tile y = random_integers(DType::f64, {4, 6}, 1, -9, 9);
  const Product product(Plan::input(four_blocks(), "A"),
                        Plan::input(Relation::from_tensor(y, {2, 2}), "B"));
  const ia::Plan broadcast = broadcast_multiplication(product, four_sites).front();
  const ia::Plan cross = cross_product_multiplication(product, four_sites).front();
  const ia::Plan replicated = replicated_multiplication(product, four_sites).front();
  EXPECT_EQ(outline(broadcast),  // B lies by columns, so that the groups are together
            "Aggregate by <0, 2> with add\n"
            " Join <1> = <0> with matmul\n"
            "  BCAST\n"
            "   Input A\n"
            "  Input B\n");
  EXPECT_EQ(outline(cross),  // both lie by the common dimension
            "Aggregate by <0, 2> with add\n"
            " SHUF PART<0+2> on 4\n"
            "  Join <1> = <0> with matmul\n"
            "   Input A\n"
            "   Input B\n");
  EXPECT_EQ(outline(replicated),
            "Aggregate by <0, 2> with add\n"
            " Join <0, 1, 2> = <0, 1, 2> with matmul\n"
            "  SHUF PART<0+2> on 4\n"
            "   Map to 3 copies <k0, k1, 0> ...\n"
            "    Input A\n"
            "  SHUF PART<0+2> on 4\n"
            "   Map to 2 copies <0, k0, k1> ...\n"
            "    Input B\n");
  const Tile expected = KernelCall("matMul")({four_blocks().to_tensor(), y});
  for (const ia::Plan& plan : {broadcast, cross, replicated})
    EXPECT_TILE_EQ(ia::interpret(plan).to_tensor(), expected);
}

}  // namespace
}  // namespace tessera
