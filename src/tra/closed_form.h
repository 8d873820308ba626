#pragma once

#include "tessera/plan.h"

namespace tessera {

/// What follows from the bounds alone, as if every input had no holes and tiles of equal shape.
struct ClosedForm {
  std::vector<Column> columns = {};
  Key frontier = {};
  bool uniform = true;
};

/// TypeError if a projection or a fold does not fit the bounds. Without columns, projections are
/// left out, and whether they fit is not looked at.
ClosedForm infer_closed_form(const Operator& op, bool with_columns);

}  // namespace tessera
