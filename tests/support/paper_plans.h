#pragma once

#include <map>

#include "support/derivation.h"
#include "tasks/multiplication.h"
#include "tasks/nearest_neighbour.h"
#include "tasks/network.h"

// The plans that Yuan et al., section 6, give costs of, derived with the rules from the plan of
// table 1. Inputs are known by their types or at hand.

namespace tessera {

/// Places inputs by their names; PART on the listed components, ALL if there is no entry.
ia::PlaceInput placed_on(const std::map<std::string, std::vector<int>>& components, int sites);

struct Product {
  Plan a, b, c;
  explicit Product(const tasks::ProductShape& shape);
  Product(const Plan& left, const Plan& right)
      : a(left), b(right), c(tasks::product(left, right)) {}
};
/// BMM: A is broadcast; B lies by columns, so that each site sums up columns of the result.
std::vector<ia::Plan> broadcast_multiplication(const Product& product, int sites);
/// CMM: both lie by the common dimension; all products are shuffled.
std::vector<ia::Plan> cross_product_multiplication(const Product& product, int sites);
/// RMM: both are copied along the other's dimension, and the copies shuffled.
std::vector<ia::Plan> replicated_multiplication(const Product& product, int sites);

struct NeighbourSearch {
  Plan x, query, a, rows;
  Plan difference, projected, distance, nearest;  // as printed: row sums after the aggregation
  NeighbourSearch(const Plan& x, const Plan& query, const Plan& a, const Plan& rows);
  /// Known by its types: X is n x d in so many tiles.
  static NeighbourSearch of(std::int64_t n, std::int64_t d, std::int64_t n_tiles,
                            std::int64_t d_tiles);
};
/// Opt4Horizontal: X lies by rows; the query and A go everywhere, and the rest is local.
std::vector<ia::Plan> horizontal_search(const NeighbourSearch& search, int sites);
/// Opt4Vertical: X lies by features and A by its first dimension; a cross-product multiplication.
std::vector<ia::Plan> vertical_search(const NeighbourSearch& search, int sites);

struct Network {
  Plan x, y, w1, w2;
  tasks::TrainingStep step;
  explicit Network(const tasks::NetworkShape& shape);
  Network(const Plan& x, const Plan& y, const Plan& w1, const Plan& w2);
};
/// TRA-DP: the batch is split; weights go everywhere, gradients are summed at each site first.
std::vector<ia::Plan> data_parallel(const Network& network, int sites);
/// TRA-MP: the layers are split, every site has the whole batch and gets all activations.
std::vector<ia::Plan> model_parallel(const Network& network, int sites);

}  // namespace tessera
