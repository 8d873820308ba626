#pragma once

#include "support/tiled_matrix.h"

// The feed-forward network of Jankov et al. ("Declarative Recursive Computation on an RDBMS"), as
// SQL and as plain loops.

namespace tessera::testing {

struct Network {
  std::vector<int> sizes;  // of the layers: input, hidden ones, output
  int batch = 4;
  int tile = 3;              // along a layer; the last one is one tile
  double rate = 0.00000001;  // at which it learns
  double scale = 1;          // of the first weights
  int layers() const { return static_cast<int>(sizes.size()) - 1; }
};

struct Weights {
  std::vector<Matrix> w;               // by layer, from 1 on
  std::vector<std::vector<double>> b;  // by layer, from 1 on
};

Weights first_weights(const Network& network);
Matrix inputs_of(const Network& network);
Matrix outputs_of(const Network& network);
/// The weights after some iterations, by plain loops.
Weights trained(const Network& network, int iterations);

/// Statements that create DATA_INPUT, DATA_OUTPUT and the first weights.
std::string data_statements(const Network& network);
/// The forward and the backward pass of section 3.2, as printed there, for so many layers.
std::string pass_statements(const Network& network);

/// How the neurons of a layer are cut into tiles: where each begins, and the end.
std::vector<int> cuts(const Network& network, int layer);

}  // namespace tessera::testing
