#pragma once

#include "bindings.h"

namespace tessera::python {

/// What a statement yields: StatementResult in Python.
void bind_results(py::module_& module);

}  // namespace tessera::python
