#include "support/planning_problems.h"

#include <fmt/format.h>

#include "support/paper_plans.h"
#include "support/random_plans.h"

namespace tessera {
namespace {

using Layout = std::map<std::string, std::vector<int>>;

OptimizerOptions options_for(const Layout& layout, int sites) {
  OptimizerOptions options;
  options.sites = sites;
  options.placed = placed_on(layout, sites);
  return options;
}

}  // namespace

std::vector<PlanningProblem> paper_products() {
  std::vector<PlanningProblem> problems;
  for (const auto& [name, shape] : std::vector<std::pair<std::string, tasks::ProductShape>>{
           {"two general matrices", {40'000, 40'000, 40'000, 5, 10, 5}},
           {"a common large dimension", {10'000, 640'000, 10'000, 5, 10, 5}},
           {"two large dimensions", {80'000, 10'000, 80'000, 5, 10, 5}}}) {
    const Product product(shape);
    const auto add = [&](const std::string& start, const Layout& layout, const std::string& rival,
                         const std::vector<ia::Plan>& plans) {
      problems.push_back(
          {name + ", " + start, {product.c}, options_for(layout, 10), {{rival, plans}}});
    };
    add("B by columns", {{"A", {0, 1}}, {"B", {1}}}, "BMM", broadcast_multiplication(product, 10));
    add("by the common dimension", {{"A", {1}}, {"B", {0}}}, "CMM",
        cross_product_multiplication(product, 10));
    add("dealt out", {{"A", {0, 1}}, {"B", {0, 1}}}, "RMM", replicated_multiplication(product, 10));
  }
  return problems;
}

std::vector<PlanningProblem> paper_searches() {
  std::vector<PlanningProblem> problems;
  for (const auto& [n, d] : {std::pair{1'500'000, 6'000}, std::pair{6'000, 100'000}}) {
    const auto search = NeighbourSearch::of(n, d, 8, 8);
    const auto add = [&](int component, const std::string& rival,
                         const std::vector<ia::Plan>& plans) {
      problems.push_back(
          {fmt::format("nearest of {} rows of {}, X by {}", n, d, component),
           {search.nearest},
           options_for({{"X", {component}}, {"query", {0}}, {"A", {0}}, {"rows", {0}}}, 8),
           {{rival, plans}}});
    };
    add(0, "Opt4Horizontal", horizontal_search(search, 8));
    add(1, "Opt4Vertical", vertical_search(search, 8));
  }
  return problems;
}

std::vector<PlanningProblem> paper_training_steps() {
  std::vector<PlanningProblem> problems;
  for (const auto& [name, shape] : std::vector<std::pair<std::string, tasks::NetworkShape>>{
           {"speech, 100k", {10'000, 1'600, 100'000, 10, 5, 5, 5}},
           {"speech, 150k", {10'000, 1'600, 150'000, 10, 5, 5, 5}},
           {"speech, 200k", {10'000, 1'600, 200'000, 10, 5, 5, 5}},
           {"products, 1k", {1'000, 597'540, 1'000, 14'585, 5, 5, 5}},
           {"products, 3k", {1'000, 597'540, 3'000, 14'585, 5, 5, 5}},
           {"products, 5k", {1'000, 597'540, 5'000, 14'585, 5, 5, 5}},
           {"products, 7k", {1'000, 597'540, 7'000, 14'585, 5, 5, 5}}}) {
    const Network network(shape);
    const std::vector<Plan> results{network.step.w1, network.step.w2};
    problems.push_back({"training on " + name + ", X by rows",
                        results,
                        options_for({{"X", {0}}, {"Y", {0}}, {"W1", {0}}, {"W2", {0}}}, 5),
                        {{"TRA-DP", data_parallel(network, 5)}}});
    problems.push_back({"training on " + name + ", X everywhere",
                        results,
                        options_for({{"Y", {1}}, {"W1", {0}}, {"W2", {0}}}, 5),
                        {{"TRA-MP", model_parallel(network, 5)}}});
    problems.push_back({"training on " + name + ", free",
                        results,
                        options_for({}, 5),
                        {{"TRA-DP", data_parallel(network, 5)}}});
    problems.back().options.placed = [](const Plan&) { return std::optional<Placement>(); };
  }
  return problems;
}

std::vector<PlanningProblem> random_products(int count) {
  std::vector<PlanningProblem> problems;
  for (int seed = 0; seed < count; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const auto tiles = [&] { return random.between(1, 12); };
    const auto side = [&] { return random.pick(std::vector<std::int64_t>{16, 250, 1000, 4000}); };
    const Key frontier{tiles(), tiles(), tiles()};
    const std::int64_t m = side(), k = side(), n = side();
    const Product product(tasks::ProductShape{m * frontier[0], k * frontier[1], n * frontier[2],
                                              frontier[0], frontier[1], frontier[2]});
    PlanningProblem problem;
    problem.options.sites = static_cast<int>(random.between(2, 64));
    // Places are drawn as they are asked for: once, here, so that it does not matter who asks.
    const ia::PlaceInput places = random_places(random, problem.options.sites);
    (void)ia::translate(product.c, places);
    problem.options.placed = places;
    problem.name = fmt::format("{} tiles of {}x{}x{} on {} sites (seed {})", to_string(frontier), m,
                               k, n, problem.options.sites, seed);
    problem.results = {product.c};
    problems.push_back(problem);
  }
  return problems;
}

std::vector<PlanningProblem> planning_problems() {
  std::vector<PlanningProblem> problems;
  for (const auto& some :
       {paper_products(), paper_searches(), paper_training_steps(), random_products(40)})
    problems.insert(problems.end(), some.begin(), some.end());
  return problems;
}

}  // namespace tessera
