#pragma once

#include "ia/evaluate.h"
#include "tessera/optimizer.h"

namespace tessera::optimizer {

/// The work of one tuple of an operator: of its kernels, by the bounds of the types.
Cost work_of_tuple(const ia::Plan& plan);

/// The costs of plans. A plan that was not optimized may read relations that are too large to be
/// listed: then nothing is predicted, and the costs are not exact.
PlanCost cost_if_listed(const std::vector<ia::Plan>& plans, const Machine& machine = {});

double seconds_of(const Cost& work, const Machine& machine);
double seconds_of(const ia::Traffic& traffic, double bytes_of_float, int sites,
                  const Machine& machine);
double bytes_of_float(const RelationType& type);  // on average over its columns

/// Floats, by the published model, of moving a relation to a placement.
double published_move(double floats, const Placement& to);

}  // namespace tessera::optimizer
