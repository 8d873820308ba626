#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tessera/optimizer.h"

namespace tessera {

/// Something to be planned, known by its types, and what the plan is compared with.
struct PlanningProblem {
  std::string name;
  std::vector<Plan> results;
  OptimizerOptions options;
  /// The paper's plans from these inputs.
  std::vector<std::pair<std::string, std::vector<ia::Plan>>> rivals = {};
};

/// The products, searches and training steps that Yuan et al. give costs of, with inputs that lie
/// as in every one of their plans; training steps also with inputs that may lie anywhere.
std::vector<PlanningProblem> paper_products();
std::vector<PlanningProblem> paper_searches();
std::vector<PlanningProblem> paper_training_steps();

/// Products of random shapes and tilings on 2 to 64 sites, whose inputs lie anywhere.
std::vector<PlanningProblem> random_products(int count);

/// All of these, with 40 random ones.
std::vector<PlanningProblem> planning_problems();

}  // namespace tessera
