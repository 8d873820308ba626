#pragma once

#include <optional>

#include "exec/context.h"
#include "exec/prepare.h"
#include "optimizer/passes.h"
#include "tessera/run.h"

namespace tessera {

/// Everything that is decided about plans that run together, and, unless an input has a type and no
/// tuples, their tasks. The processes of a cluster decide when they are asked: of what runs it is
/// the first one that decides, and tells the others.
struct PlannedRun::State {
  std::vector<Plan> logical;
  exec::Context context;
  Results results;
  OptimizerOptions planning;
  /// Every process of a cluster has the physical plans: there is nothing to decide but the tasks.
  bool is_physical = false;
  std::optional<optimizer::Planning> planned = {};
  std::optional<exec::Prepared> prepared = {};

  /// Decides, unless that is done.
  void plan();
  /// The last pass, above the optimizer's: tasks, and the order in which they run.
  void make_tasks();
  /// PlanError if it cannot be run.
  void require_prepared();
  /// The same, once, for who runs it: on a cluster by what the first process has decided.
  exec::Prepared take_to_run();

 private:
  void share();
};

OptimizerOptions planning_options(const exec::Context& context);
PlannedRun plan_run(const std::vector<Plan>& plans, exec::Context context, Results results,
                    OptimizerOptions planning);
/// Of plans that are physical already. Their results are moved to all processes, if they are wanted
/// there; nothing else is changed.
PlannedRun plan_run(const std::vector<ia::Plan>& plans, exec::Context context,
                    bool results_everywhere);

}  // namespace tessera
