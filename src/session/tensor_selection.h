#pragma once

#include "session/tensors.h"

namespace tessera::session {

/// Whether a query is a SELECT of whole tensors. It has no FROM, and an item names a stored tensor
/// or is a comprehension or a constructor: nothing that a query over rows could mean. ErrorAt if it
/// has clauses that only rows have.
bool selects_tensors(const sql::Query& query, const Snapshot& snapshot,
                     StoredDefinitions& catalogue);
/// Its items, each a tensor under the name of its column.
std::vector<PlannedTensor> selected_tensors(const sql::Query& query, const Snapshot& snapshot,
                                            StoredDefinitions& catalogue);

}  // namespace tessera::session
