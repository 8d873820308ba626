#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "tessera/tessera.h"

// The Python surface, a file a topic; module.cpp calls them in order.
namespace tessera::python {

namespace py = pybind11;

void bind_errors(py::module_& module);
void bind_tiles(py::module_& module);
void bind_kernels(py::module_& module);
void bind_running(py::module_& module);
void bind_sites(py::module_& module);
void bind_relations(py::module_& module);
void bind_plans(py::module_& module);
void bind_database(py::module_& module);
void bind_files(py::module_& module, py::class_<Database>& database);
void bind_sql(py::module_& module, py::class_<Database>& database);

/// An error in a statement, with the line that it is about and a mark below the place.
struct ShownStatementError : StatementError {
  ShownStatementError(const StatementError& error, std::string text)
      : StatementError(error), shown(std::move(text)) {}
  std::string shown;
};

Tile tile_from_numpy(const py::array& array);
py::array tile_to_numpy(const Tile& tile);
/// A tile, or anything that NumPy takes for an array, or a SciPy sparse matrix.
Tile as_tile(const py::handle& object);
/// A key as Python writes it: a tuple of integers, or one integer.
Key as_key(const py::object& object);
/// NumPy's basic indexing: integers, slices and `...`.
Tile indexed(const Tile& tile, const py::object& key);
/// Options of a run as Python gives them. A memory limit is a number of bytes, or text: "512MB".
RunOptions run_options(bool allow_holes, int sites, int threads, const py::object& memory_limit,
                       const std::string& temporary_folder);
/// "on", "off", or a folder or several of them.
ExternalAccess as_access(const py::object& external_access);
/// Runs a plan; Ctrl-C ends it, as does what `progress` raises.
Relation run_plan(const Plan& plan, bool allow_holes, int sites, int threads,
                  const py::object& memory_limit, const std::string& temporary_folder,
                  const py::object& progress);
/// The same into a database. Returns what the run took.
py::dict store_plan(Database& database, const std::string& name, const Plan& plan, bool allow_holes,
                    int sites, int threads, const py::object& memory_limit,
                    const std::string& temporary_folder, const py::object& progress);
/// What a run would need of memory and disk.
py::dict forecast_plan(const Plan& plan, bool allow_holes, int sites, int threads,
                       const py::object& memory_limit, bool stored);
/// A plan's tree; with a number of sites, the physical plan that the optimizer finds.
std::string explain_plan(const Plan& plan, std::optional<int> sites, const std::string& objective,
                         bool alternatives, bool json, const py::dict& placed,
                         const std::vector<std::string>& disabled, const py::object& memory_limit);
py::dict as_dict(const Statistics& statistics);
ParamValue as_param(const std::string& name, const py::handle& object);

template <class Vector>
Vector as_inline(const std::vector<std::int64_t>& values) {
  return Vector(values.begin(), values.end());
}

inline py::tuple as_tuple(const auto& values) {
  py::tuple tuple(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) tuple[i] = values[i];
  return tuple;
}

}  // namespace tessera::python
