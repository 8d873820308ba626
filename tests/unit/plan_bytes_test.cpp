#include "tra/plan_bytes.h"

#include <gtest/gtest.h>

#include <cstring>

#include "support/expectations.h"
#include "tessera/run.h"

namespace tessera {
namespace {

Plan matrix(const std::string& name, double first = 0) {
  Tile tile = random_integers(DType::f64, {6, 4}, 1, -5, 6);
  if (first != 0) tile = KernelCall("add_scalar(value=1)")({tile});
  return Plan::input(Relation::from_tensor(tile, {2, 2}), name);
}

/// Gives one input, whatever is asked for.
FindInput always(const Plan& input) {
  return [input](const std::string&, const RelationType&) { return input; };
}

std::string refusal_to_read(const std::string& bytes, const FindInput& find = {}) {
  return message_of<PlanError>([&] { (void)plans_from_bytes(bytes, find); });
}

TEST(PlanBytes, OneHasAllThatAPlanIs) {
  const Plan a = matrix("A");
  const Plan product = a.join(a, {1}, {1}, {Apply("matmul(transpose_b=true)", {0, 1}, {"product"})})
                           .aggregate({0, 2}, "add")
                           .filter("k0 + 1 < 3 or not k1 == 2")
                           .rekey("<k1, k0 * 2 + k1 % 3>")
                           .transform("mul_scalar(value=0.5)");
  const std::vector<Plan> again = plans_from_bytes(to_bytes({product}), always(a));
  EXPECT_EQ(again.front().explain(), product.explain());
  EXPECT_EQ(again.front().type(), product.type());
  EXPECT_EQ(to_bytes(again), to_bytes({product}));
  RunOptions options;
  options.holes = Holes::allowed;
  EXPECT_TRUE(relations_equal(again.front().run(options), product.run(options)));
}

TEST(PlanBytes, PlansOverTypesNeedNoInputs) {
  const Plan virtual_matrix = Plan::input(
      RelationType{{{"", {DType::f64, {100, 100}}}}, {40, 40}, Presence::continuous}, "V");
  const Plan product =
      virtual_matrix.join(virtual_matrix, {1}, {0}, "matmul").aggregate({0, 2}, "add");
  EXPECT_EQ(plans_from_bytes(to_bytes({product})).front().explain(), product.explain());
}

TEST(PlanBytes, AFewBytesAnOperator) {
  Plan chain = matrix("A");
  const std::size_t one = to_bytes({chain.transform("neg")}).size();
  for (int i = 0; i < 1000; ++i) chain = chain.transform("neg");
  EXPECT_LT((to_bytes({chain}).size() - one) / 999, 12U);
  EXPECT_EQ(plans_from_bytes(to_bytes({chain}), always(matrix("A"))).front().explain(),
            chain.explain());
}

TEST(PlanBytes, InputsAreGivenByWhoReads) {
  const std::string bytes = to_bytes({matrix("A").transform("neg")});
  EXPECT_EQ(refusal_to_read(bytes), "the plan has the input \"A\", but no tiles are given for it");
  EXPECT_EQ(refusal_to_read(bytes, always(matrix("A").transform("neg"))),
            "the plan given for the input \"A\" is not an input");
  const Plan smaller = Plan::input(Relation::from_tensor(Tile::zeros(DType::f64, {2, 2}), {2, 2}));
  EXPECT_EQ(refusal_to_read(bytes, always(smaller)),
            "the plan was made for an input \"A\" of type <3, 2> -> f64[2x2], not <1, 1> -> "
            "f64[2x2]");
  // Of other values, the same plan.
  const Plan other = matrix("B", 2);
  EXPECT_TRUE(relations_equal(plans_from_bytes(bytes, always(other)).front().run(),
                              other.transform("neg").run()));
}

TEST(PlanBytes, AnInputHasItsTilesAtTheSameKeys) {
  const auto holed = [](std::int64_t left_out) {
    std::vector<Tuple> tuples;
    for (std::int64_t i = 0; i < 4; ++i)
      if (i != left_out) tuples.push_back({{i}, {Tile::full(DType::f64, {2}, 1)}});
    return Plan::input(Relation::of(tuples, Presence::sparse), "H");
  };
  const std::string bytes = to_bytes({holed(1)});
  EXPECT_EQ(plans_from_bytes(bytes, always(holed(1))).front().type(), holed(1).type());
  EXPECT_EQ(refusal_to_read(bytes, always(holed(2))),
            "the plan was made for an input \"H\" with other tile types or other keys");
}

TEST(PlanBytes, WhatOneProgramAloneKnowsIsRefused) {
  const Plan a = matrix("A");
  const auto twice = KeyFunction::opaque("twice", 2, [](const Key& key) {
    return Key{key[0] * 2, key[1]};
  });
  EXPECT_EQ(refusal_to_read(to_bytes({a.rekey(twice)}), always(a)),
            "the plan uses the C++ function \"twice[0]\", which cannot be read: only the program "
            "that wrote it knows it");
  const auto odd = KeyPredicate::opaque("odd", [](const Key& key) { return key[0] % 2 == 1; });
  EXPECT_EQ(refusal_to_read(to_bytes({a.filter(odd)}), always(a)),
            "the plan uses the C++ function \"odd\", which cannot be read: only the program that "
            "wrote it knows it");
  const auto mine = std::make_shared<const Kernel>(
      Kernel{.name = "mine",
             .infer = [](Types types, const Params&) { return std::vector<TileType>{types[0]}; },
             .implementations = {{.name = "loop", .run = [](Tiles tiles, const Params&) {
                                    return std::vector<Tile>{tiles[0]};
                                  }}}});
  EXPECT_EQ(refusal_to_read(to_bytes({a.transform(KernelCall(mine, {}))}), always(a)),
            "the plan uses kernel \"mine\", which cannot be read: it is not registered, and only "
            "the program that wrote it knows it");
}

TEST(PlanBytes, DamageIsFound) {
  const Plan a = matrix("A");
  const std::string bytes = to_bytes({a.transform("neg")});
  const auto refusal = [&](const std::string& other) {
    return message_of<IoError>([&] { (void)plans_from_bytes(other, always(a)); });
  };
  EXPECT_EQ(refusal(""), "these 0 bytes are not written plans");
  EXPECT_EQ(refusal("a text that is long enough to hold a plan"),
            "these 41 bytes are not written plans");
  for (std::size_t bytes_left = 0; bytes_left < bytes.size(); ++bytes_left)
    EXPECT_NE(refusal(bytes.substr(0, bytes_left)), "");
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string other = bytes;
    other[bit / 8] = static_cast<char>(other[bit / 8] ^ 1 << bit % 8);
    EXPECT_NE(refusal(other), "") << bit;
  }
  const std::string physical = ia::to_bytes({ia::Plan::input(a, Placement::all(1))});
  EXPECT_EQ(refusal(physical),
            fmt::format("these {} bytes are not written plans", physical.size()));
}

TEST(PlanBytes, ALaterVersionIsNotGuessedAt) {
  std::string later = to_bytes({matrix("A")});
  // The version follows the mark and the kind: 2, which is written as 4.
  ASSERT_EQ(later[8], 4);
  std::string inside = later.substr(0, later.size() - 8);
  inside[8] = 6;
  const std::uint64_t checksum = checksum_of(inside);
  inside.append(reinterpret_cast<const char*>(&checksum), sizeof checksum);
  EXPECT_EQ(message_of<IoError>([&] { (void)plans_from_bytes(inside); }),
            "the written plan has format version 3, but this program reads version 2");
}

TEST(PlanBytes, ARunIsForSoManySites) {
  const Plan a = matrix("A");
  RunOptions four;
  four.sites = 4;
  PlannedRun planned =
      plan_run({a.join(a, {1}, {1}, "matmul(transpose_b=true)").aggregate({0, 2}, "add")}, four);
  const std::string bytes = to_bytes(planned);
  EXPECT_EQ(message_of<PlanError>([&] { (void)planned_run_from_bytes(bytes, always(a)); }),
            "a plan for 4 sites cannot run on 1");
  const std::vector<Relation> expected = run(std::move(planned));
  EXPECT_TRUE(relations_equal(run(planned_run_from_bytes(bytes, always(a), four)).front(),
                              expected.front()));
}

}  // namespace
}  // namespace tessera
