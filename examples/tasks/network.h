#pragma once

#include <fmt/format.h>

#include "tessera/tessera.h"

// A training step of a two-layer network for several labels (Yuan et al., section 6.3).

namespace tasks {

struct NetworkShape {
  std::int64_t batch = 0, features = 0, hidden = 0, labels = 0;
  std::int64_t batch_tiles = 1, hidden_tiles = 1, label_tiles = 1;
};

struct NetworkInputs {
  tessera::RelationType x, y, w1, w2;
};

/// X is cut by rows, W1 by hidden units and W2 by labels: what a tile has of the other dimension it
/// has whole, so that a batch can be split, or a layer.
inline NetworkInputs network_types(const NetworkShape& s,
                                   tessera::DType dtype = tessera::DType::f64) {
  const auto cut = [&](std::int64_t rows, std::int64_t columns, const tessera::Key& frontier) {
    return tessera::RelationType{{{"", {dtype, {rows, columns}, 0}}}, frontier};
  };
  const std::int64_t n = s.batch / s.batch_tiles, h = s.hidden / s.hidden_tiles,
                     l = s.labels / s.label_tiles;
  return {cut(n, s.features, {s.batch_tiles}), cut(n, l, {s.batch_tiles, s.label_tiles}),
          cut(s.features, h, {s.hidden_tiles}), cut(s.hidden, l, {s.label_tiles})};
}

struct TrainingStep {
  tessera::Plan z1, a1, d2, g1, g2;  // of interest to who looks at the plan
  tessera::Plan w1, w2;              // the new weights
};

/// Forward, backward and update: a1 = relu(X W1), a2 = sigmoid(a1 W2), and W -= rate * gradient of
/// the cross entropy.
inline TrainingStep training_step(const tessera::Plan& x, const tessera::Plan& y,
                                  const tessera::Plan& w1, const tessera::Plan& w2, double rate) {
  const std::int64_t hidden_tile = w1.type().columns[0].type.shape[1];
  const std::string scaled = fmt::format("mul_scalar(value={})", rate);
  const tessera::Plan z1 = x.join(w1, {}, {}, "matmul");  // (n, h)
  const tessera::Plan a1 = z1.transform("relu");
  const tessera::Plan all_hidden = a1.concat(1, 1);                // (n): a row's units together
  const tessera::Plan z2 = all_hidden.join(w2, {}, {}, "matmul");  // (n, l)
  const tessera::Plan d2 = z2.transform("sigmoid").join(y, {0, 1}, {0, 1}, "sub");
  const tessera::Plan g2 =
      all_hidden.join(d2, {0}, {0}, "matmul(transpose_a=true)").aggregate({1}, "add");  // (l)
  const tessera::Plan d1 = d2.join(w2, {1}, {0}, "matmul(transpose_b=true)")            // (n, l)
                               .tile(1, hidden_tile)                                    // (n, l, h)
                               .aggregate({0, 2}, "add")
                               .join(z1.transform("relu_deriv"), {0, 1}, {0, 1}, "mul");
  const tessera::Plan g1 =
      x.join(d1, {0}, {0}, "matmul(transpose_a=true)").aggregate({1}, "add");  // (h)
  return {z1,
          a1,
          d2,
          g1,
          g2,
          w1.join(g1.transform(scaled), {0}, {0}, "sub"),
          w2.join(g2.transform(scaled), {0}, {0}, "sub")};
}

}  // namespace tasks
