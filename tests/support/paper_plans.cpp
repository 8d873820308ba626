#include "support/paper_plans.h"

#include "rules/multiplication.h"

namespace tessera {
namespace {

using namespace optimizer;

/// An input of the operator that computes something.
Plan input_of(const Plan& plan, int which = 0) { return inputs_of(operator_of(plan)).at(which); }

}  // namespace

ia::PlaceInput placed_on(const std::map<std::string, std::vector<int>>& components, int sites) {
  return [=](const Plan& input) {
    const auto found = components.find(std::get<op::Input>(operator_of(input)).name);
    if (found == components.end()) return Placement::all(sites);
    return Placement::part(found->second, input.frontier(), sites);
  };
}

Product::Product(const tasks::ProductShape& s)
    : Product(Plan::input(tasks::matrix(s.m, s.k, s.m_tiles, s.k_tiles), "A"),
              Plan::input(tasks::matrix(s.k, s.n, s.k_tiles, s.n_tiles), "B")) {}

std::vector<ia::Plan> broadcast_multiplication(const Product& product, int sites) {
  return Derivation({product.c}, placed_on({{"A", {0, 1}}, {"B", {1}}}, sites))
      .at(product.c, {"broadcast_multiply", "BMM",
                      [](const ia::Plan& plan) {
                        return broadcast_multiply(plan, Side::left, Folding::as_printed);
                      }})
      .at(product.c, "skip_shuffle")
      .plans();
}

std::vector<ia::Plan> cross_product_multiplication(const Product& product, int sites) {
  return Derivation({product.c}, placed_on({{"A", {1}}, {"B", {0}}}, sites))
      .at(product.c,
          {"cross_product_multiply", "CMM",
           [](const ia::Plan& plan) { return cross_product_multiply(plan, Folding::as_printed); }})
      .plans();
}

std::vector<ia::Plan> replicated_multiplication(const Product& product, int sites) {
  return Derivation({product.c}, placed_on({{"A", {0, 1}}, {"B", {0, 1}}}, sites))
      .at(product.c, "replicated_multiply")
      .plans();
}

NeighbourSearch::NeighbourSearch(const Plan& candidates, const Plan& point, const Plan& metric,
                                 const Plan& numbers)
    : x(candidates),
      query(point),
      a(metric),
      rows(numbers),
      difference(x.join(query, {1}, {0}, "sub")),
      projected(tasks::product(difference, a)),
      distance(projected.join(difference, {0, 1}, {0, 1}, "mul")
                   .aggregate({0}, "add")
                   .transform("row_sum")),
      nearest(distance.join(rows, {0}, {0}, "nearest").aggregate({}, "nearer")) {}

NeighbourSearch NeighbourSearch::of(std::int64_t n, std::int64_t d, std::int64_t n_tiles,
                                    std::int64_t d_tiles) {
  tasks::register_nearest_kernels();
  const auto vectors = [](std::int64_t tiles, const Shape& shape) {
    return RelationType{{{"", {DType::f64, shape, 0}}}, {tiles}};
  };
  return {Plan::input(tasks::matrix(n, d, n_tiles, d_tiles), "X"),
          Plan::input(vectors(d_tiles, {1, d / d_tiles}), "query"),
          Plan::input(tasks::matrix(d, d, d_tiles, d_tiles), "A"),
          Plan::input(vectors(n_tiles, {n / n_tiles}), "rows")};
}

std::vector<ia::Plan> horizontal_search(const NeighbourSearch& s, int sites) {
  const Plan sums = input_of(s.distance), products = input_of(sums);
  return Derivation({s.nearest},
                    placed_on({{"X", {0}}, {"query", {0}}, {"A", {0}}, {"rows", {0}}}, sites))
      .at(s.difference, "broadcast_right")
      .at(s.projected, "broadcast_multiply_right")
      .at(products, "join_in_place")
      .at(sums, "skip_shuffle")
      .at(s.distance, "map_before_aggregation")
      .at(input_of(s.nearest), "join_in_place")
      .at(s.nearest, "aggregate_twice")
      .plans();
}

std::vector<ia::Plan> vertical_search(const NeighbourSearch& s, int sites) {
  const Plan products = input_of(input_of(s.distance));
  return Derivation({s.nearest},
                    placed_on({{"X", {1}}, {"query", {0}}, {"A", {0}}, {"rows", {0}}}, sites))
      .at(s.difference, "broadcast_right")
      .at(s.projected,
          {"cross_product_multiply", "CMM",
           [](const ia::Plan& plan) { return cross_product_multiply(plan, Folding::as_printed); }})
      // By features, as the differences lie that they are multiplied with.
      .gathered(s.projected, Placement::part({1}, s.projected.frontier(), sites))
      .at(products, "join_in_place")
      .at(s.distance, "map_before_aggregation")
      .below(s.distance, "map_before_move")
      .at(input_of(s.nearest), "join_in_place")
      .at(s.nearest, "aggregate_twice")
      .plans();
}

namespace {

/// The results of a training step that have no name of their own.
struct Inside {
  Plan hidden, z2, g2_products, back, back_sum, d1, g1_products;
  explicit Inside(const tasks::TrainingStep& step)
      : hidden(input_of(input_of(input_of(step.d2)))),
        z2(input_of(input_of(step.d2))),
        g2_products(input_of(step.g2)),
        back(input_of(input_of(input_of(input_of(input_of(step.g1), 1))))),
        back_sum(input_of(input_of(input_of(step.g1), 1))),
        d1(input_of(input_of(step.g1), 1)),
        g1_products(input_of(step.g1)) {}
};

}  // namespace

Network::Network(const Plan& batch, const Plan& truth, const Plan& first, const Plan& second)
    : x(batch), y(truth), w1(first), w2(second), step(tasks::training_step(x, y, w1, w2, 0.25)) {}

Network::Network(const tasks::NetworkShape& shape)
    : Network(Plan::input(tasks::network_types(shape).x, "X"),
              Plan::input(tasks::network_types(shape).y, "Y"),
              Plan::input(tasks::network_types(shape).w1, "W1"),
              Plan::input(tasks::network_types(shape).w2, "W2")) {}

std::vector<ia::Plan> data_parallel(const Network& network, int sites) {
  const tasks::TrainingStep& step = network.step;
  const Inside inside(step);
  return Derivation({step.w1, step.w2},
                    placed_on({{"X", {0}}, {"Y", {0}}, {"W1", {0}}, {"W2", {0}}}, sites))
      .at(step.z1, "broadcast_right")
      .at(inside.z2, "broadcast_right")
      .at(step.d2, "join_in_place")
      .at(inside.g2_products, "join_in_place")
      .at(step.g2, "aggregate_twice")
      .at(inside.back, "broadcast_right")
      .at(inside.back_sum, "skip_shuffle")
      .at(inside.d1, "join_in_place")
      .at(inside.g1_products, "join_in_place")
      .at(step.g1, "aggregate_twice")
      .at(step.w1, "join_in_place")
      .at(step.w2, "join_in_place")
      .plans();
}

std::vector<ia::Plan> model_parallel(const Network& network, int sites) {
  const tasks::TrainingStep& step = network.step;
  const Inside inside(step);
  return Derivation({step.w1, step.w2}, placed_on({{"Y", {1}}, {"W1", {0}}, {"W2", {0}}}, sites))
      .at(step.z1, "join_in_place")
      .gathered(inside.hidden, Placement::all(sites))
      .at(inside.z2, "join_in_place")
      .at(step.d2, "join_in_place")
      .at(inside.g2_products, "join_in_place")
      .at(step.g2, "skip_shuffle")
      .at(inside.back, "join_in_place")
      // By hidden units, as the first layer lies.
      .gathered(inside.back_sum, Placement::part({1}, inside.back_sum.frontier(), sites))
      .at(inside.d1, "join_in_place")
      .at(inside.g1_products, "join_in_place")
      .at(step.g1, "skip_shuffle")
      .at(step.w1, "join_in_place")
      .at(step.w2, "join_in_place")
      .plans();
}

}  // namespace tessera
