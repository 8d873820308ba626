#include "support/unrolled_plans.h"

#include <fmt/format.h>

namespace tessera {

namespace {

using frames::Kind;
using Op = std::int32_t;

/// Adds operators to a plan: each names what it reads, and belongs to the index set last.
class Unrolling {
 public:
  explicit Unrolling(std::string name) { plan_.name = std::move(name); }
  void index(std::int32_t outer) { outer_ = outer; }

  Op add(Kind kind, const std::vector<Op>& reads) {
    const auto op = static_cast<Op>(plan_.operators.size());
    plan_.operators.push_back(kind);
    plan_.outer_index.push_back(outer_);
    for (const Op read : reads) plan_.uses.push_back({read, op});
    return op;
  }
  Op table() { return add(Kind::other, {}); }
  Op project(Op input) { return add(Kind::projection, {input}); }
  /// SELECT ... FROM several tables: joins from the left to the right.
  Op join(const std::vector<Op>& inputs) {
    Op joined = inputs.front();
    for (std::size_t i = 1; i < inputs.size(); ++i) joined = add(Kind::join, {joined, inputs[i]});
    return joined;
  }
  Op join_project(const std::vector<Op>& inputs) { return project(join(inputs)); }
  Op join_sum(const std::vector<Op>& inputs) { return add(Kind::aggregation, {join(inputs)}); }
  Op union_sum(const std::vector<Op>& inputs) {
    return add(Kind::aggregation, {add(Kind::union_all, inputs)});
  }
  UnrolledPlan take() { return std::move(plan_); }

 private:
  UnrolledPlan plan_;
  std::int32_t outer_ = 0;
};

}  // namespace

UnrolledPlan unrolled_network(int layers, int iterations, int skip) {
  Unrolling plan(fmt::format("network of {} layers{}, {} iterations", layers,
                             skip ? fmt::format(" that skip {}", skip) : "", iterations));
  const auto n = static_cast<std::size_t>(layers) + 1;
  const Op input = plan.table();
  const Op output = plan.table();
  std::vector<Op> w(n);
  std::vector<Op> b(n);
  std::vector<Op> a(n);
  std::vector<Op> e(n);
  for (std::size_t j = 1; j < n; ++j) {
    w[j] = plan.table();
    b[j] = plan.table();
  }
  for (int i = 0; i < iterations; ++i) {
    plan.index(i);
    if (i > 0)
      for (std::size_t j = 1; j < n; ++j) {
        w[j] = plan.join_project({w[j], e[j], a[j - 1]});
        b[j] = plan.join_project({b[j], e[j]});
      }
    a[0] = plan.project(input);
    for (std::size_t j = 1; j < n; ++j) {
      const Op sums = plan.join_sum({w[j], a[j - 1]});
      std::vector<Op> inputs = {sums, b[j]};
      if (skip > 0 && j > static_cast<std::size_t>(skip))
        inputs.push_back(a[j - static_cast<std::size_t>(skip)]);
      a[j] = plan.join_project(inputs);
    }
    e[n - 1] = plan.join_project({a[n - 1], output});
    for (std::size_t j = n - 2; j > 0; --j) e[j] = plan.join_sum({a[j], w[j + 1], e[j + 1]});
  }
  return plan.take();
}

UnrolledPlan unrolled_pascal(int rows) {
  Unrolling plan(fmt::format("Pascal's triangle, {} rows", rows));
  std::vector<Op> above = {plan.table()};
  for (int i = 1; i < rows; ++i) {
    plan.index(i);
    std::vector<Op> row = {plan.project(above.front())};
    for (std::size_t j = 1; j < above.size(); ++j)
      row.push_back(plan.join_project({above[j - 1], above[j]}));
    row.push_back(plan.project(above.back()));
    above = std::move(row);
  }
  return plan.take();
}

UnrolledPlan unrolled_fibonacci(int tables, int order) {
  Unrolling plan(fmt::format("sums of the last {}, {} tables", order, tables));
  std::vector<Op> all;
  for (int i = 0; i < tables; ++i) {
    plan.index(i);
    all.push_back(i < order ? plan.table()
                            : plan.union_sum(std::vector<Op>(all.end() - order, all.end())));
  }
  return plan.take();
}

UnrolledPlan unrolled_stencil(int cells, int steps) {
  Unrolling plan(fmt::format("stencil of {} cells, {} steps", cells, steps));
  std::vector<Op> before;
  for (int x = 0; x < cells; ++x) before.push_back(plan.table());
  for (int t = 1; t <= steps; ++t) {
    plan.index(t);
    std::vector<Op> now;
    for (std::size_t x = 0; x < before.size(); ++x) {
      std::vector<Op> inputs = {before[x]};
      if (x > 0) inputs.push_back(before[x - 1]);
      if (x + 1 < before.size()) inputs.push_back(before[x + 1]);
      now.push_back(plan.union_sum(inputs));
    }
    before = std::move(now);
  }
  return plan.take();
}

UnrolledPlan unrolled_alignment(int rows, int columns) {
  Unrolling plan(fmt::format("alignment, {} by {}", rows, columns));
  std::vector<Op> above;
  for (int i = 0; i < rows; ++i) {
    plan.index(i);
    std::vector<Op> row;
    for (std::size_t j = 0; j < static_cast<std::size_t>(columns); ++j) {
      std::vector<Op> inputs;
      if (i > 0 && j > 0) inputs.push_back(above[j - 1]);
      if (i > 0) inputs.push_back(above[j]);
      if (j > 0) inputs.push_back(row.back());
      row.push_back(inputs.empty() ? plan.table() : plan.join_project(inputs));
    }
    above = std::move(row);
  }
  return plan.take();
}

UnrolledPlan unrolled_recurrent(int layers, int steps) {
  Unrolling plan(fmt::format("recurrent network of {} layers, {} steps", layers, steps));
  std::vector<Op> weights;
  std::vector<Op> state;
  for (int l = 0; l < layers; ++l) {
    weights.push_back(plan.table());
    state.push_back(plan.table());
  }
  for (int t = 1; t <= steps; ++t) {
    plan.index(t);
    Op below = plan.table();
    for (std::size_t l = 0; l < state.size(); ++l) {
      const Op sums = plan.join_sum({below, weights[l]});
      below = state[l] = plan.join_project({sums, state[l]});
    }
  }
  return plan.take();
}

UnrolledPlan unrolled_butterfly(int stages) {
  Unrolling plan(fmt::format("butterfly of {} stages", stages));
  const std::size_t n = std::size_t{1} << stages;
  std::vector<Op> before;
  for (std::size_t k = 0; k < n; ++k) before.push_back(plan.table());
  for (int s = 0; s < stages; ++s) {
    plan.index(s + 1);
    std::vector<Op> now;
    for (std::size_t k = 0; k < n; ++k)
      now.push_back(plan.join_project({before[k], before[k ^ (std::size_t{1} << s)]}));
    before = std::move(now);
  }
  return plan.take();
}

UnrolledPlan unrolled_tree(int levels) {
  Unrolling plan(fmt::format("tree of {} levels", levels));
  std::vector<Op> below;
  for (int k = 0; k < 1 << levels; ++k) below.push_back(plan.add(Kind::selection, {plan.table()}));
  for (int level = 1; level <= levels; ++level) {
    plan.index(level);
    std::vector<Op> sums;
    for (std::size_t k = 0; k + 1 < below.size(); k += 2)
      sums.push_back(plan.union_sum({below[k], below[k + 1]}));
    below = std::move(sums);
  }
  return plan.take();
}

UnrolledPlan unrolled_power_iteration(int iterations) {
  Unrolling plan(fmt::format("power iteration, {} iterations", iterations));
  const Op matrix = plan.table();
  Op vector = plan.table();
  for (int i = 1; i <= iterations; ++i) {
    plan.index(i);
    const Op product = plan.join_sum({matrix, vector});
    const Op length = plan.add(Kind::aggregation, {plan.project(product)});
    vector = plan.join_project({product, length});
  }
  return plan.take();
}

UnrolledPlan unrolled_clustering(int parts, int iterations) {
  Unrolling plan(fmt::format("k-means of {} parts, {} iterations", parts, iterations));
  std::vector<Op> points;
  for (int p = 0; p < parts; ++p) points.push_back(plan.table());
  Op centres = plan.table();
  for (int i = 1; i <= iterations; ++i) {
    plan.index(i);
    std::vector<Op> sums;
    for (const Op part : points) {
      const Op distances = plan.join_project({part, centres});
      const Op nearest = plan.add(Kind::aggregation, {distances});
      const Op members = plan.add(Kind::selection, {plan.join({distances, nearest})});
      sums.push_back(plan.join_sum({members, part}));
    }
    centres = plan.project(plan.union_sum(sums));
  }
  return plan.take();
}

UnrolledPlan unrolled_gradients(int iterations) {
  Unrolling plan(fmt::format("conjugate gradients, {} iterations", iterations));
  const Op matrix = plan.table();
  Op solution = plan.table();
  Op residual = plan.table();
  Op direction = plan.project(residual);
  Op length = plan.add(Kind::aggregation, {plan.project(residual)});
  for (int i = 1; i <= iterations; ++i) {
    plan.index(i);
    const Op product = plan.join_sum({matrix, direction});
    const Op curvature = plan.join_sum({product, direction});
    const Op step = plan.join_project({length, curvature});
    solution = plan.join_project({solution, direction, step});
    residual = plan.join_project({residual, product, step});
    const Op shorter = plan.add(Kind::aggregation, {plan.project(residual)});
    const Op ratio = plan.join_project({shorter, length});
    direction = plan.join_project({residual, direction, ratio});
    length = shorter;
  }
  return plan.take();
}

UnrolledPlan unrolled_chains(int chains, int length) {
  Unrolling plan(fmt::format("{} chains of {} steps", chains, length));
  std::vector<Op> ends;
  for (int c = 0; c < chains; ++c) ends.push_back(plan.table());
  for (int i = 1; i <= length; ++i) {
    plan.index(i);
    for (Op& end : ends) end = plan.project(plan.add(Kind::selection, {end}));
  }
  plan.index(length + 1);
  plan.join_project(ends);
  return plan.take();
}

std::vector<UnrolledPlan> unrolled_plans() {
  return {unrolled_network(9, 10),       unrolled_network(9, 60),     unrolled_network(3, 80),
          unrolled_network(30, 20),      unrolled_network(9, 40, 2),  unrolled_network(24, 15, 3),
          unrolled_pascal(51),           unrolled_pascal(80),         unrolled_fibonacci(2000),
          unrolled_fibonacci(1500, 5),   unrolled_stencil(30, 60),    unrolled_stencil(100, 25),
          unrolled_alignment(40, 40),    unrolled_alignment(15, 150), unrolled_recurrent(6, 100),
          unrolled_recurrent(20, 40),    unrolled_butterfly(8),       unrolled_tree(10),
          unrolled_power_iteration(500), unrolled_clustering(8, 60),  unrolled_clustering(40, 15),
          unrolled_gradients(150),       unrolled_chains(20, 60),     unrolled_chains(100, 12)};
}

std::vector<UnrolledPlan> small_unrolled_plans() {
  return {unrolled_network(1, 3),    unrolled_network(2, 1),    unrolled_network(3, 1),
          unrolled_pascal(5),        unrolled_pascal(6),        unrolled_fibonacci(21),
          unrolled_fibonacci(20, 4), unrolled_stencil(4, 4),    unrolled_stencil(3, 5),
          unrolled_alignment(4, 4),  unrolled_recurrent(2, 4),  unrolled_recurrent(3, 2),
          unrolled_butterfly(2),     unrolled_tree(3),          unrolled_power_iteration(6),
          unrolled_clustering(2, 2), unrolled_clustering(4, 1), unrolled_gradients(1),
          unrolled_chains(3, 5),     unrolled_chains(5, 3),     unrolled_network(3, 1, 1)};
}

}  // namespace tessera
