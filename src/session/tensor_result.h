#pragma once

#include "query/lowering/evaluation.h"
#include "session/tensors.h"

namespace tessera::session {

/// Computes tensors that a statement shows, together. After that their tiles can be read: from
/// memory, or, if they are large, from a temporary database, which goes with its last reader. A
/// statement that is only planned leaves them as they are.
void compute(std::vector<PlannedTensor>& tensors, const query::Settings& settings);

/// Computes a tensor into a temporary database, in which it is all there is.
Database stored_temporarily(const PlannedTensor& tensor, const ExternalAccess& access,
                            const RunOptions& run);

/// The result of a statement that shows tensors: one row, with a column for each.
ResultTable result_of(const std::vector<PlannedTensor>& tensors, const RunOptions& run);

}  // namespace tessera::session
