#pragma once

#include "bindings.h"

namespace tessera::python {

/// What stands for each `?` of a text: a list or a tuple of values, or None.
std::vector<SqlValue> as_values(const py::object& list);
/// A row that is inserted; `number` is its index among the rows that are given.
std::vector<SqlValue> as_row(const py::handle& row, std::int64_t number);

}  // namespace tessera::python
