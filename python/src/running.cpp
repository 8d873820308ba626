#include "base/bytes.h"
#include "base/check.h"
#include "tessera/cluster.h"
#include "watched.h"

namespace tessera::python {

namespace {

/// A limit that was said: a text or a whole number. None at all would be 80% of what there is.
std::int64_t limit_of(const py::object& said) {
  std::int64_t bytes = 0;
  if (py::isinstance<py::str>(said)) {
    bytes = parse_bytes(said.cast<std::string>());
  } else {
    const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(said.ptr()));
    int overflow = 0;
    if (number) bytes = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    PyErr_Clear();
    TESSERA_REQUIRE(
        TypeError, number && overflow == 0,
        "invalid memory_limit {}; use a number of bytes such as '512MB', '2GiB' or 1000000",
        py::repr(said).cast<std::string>());
  }
  TESSERA_REQUIRE(
      TypeError, bytes > 0,
      "memory_limit must be positive, not {}; use a value such as '512MB' or '2GiB', or "
      "omit it for 80% of the available memory",
      py::repr(said).cast<std::string>());
  return bytes;
}

}  // namespace

RunOptions run_options(bool allow_holes, int sites, int threads, const py::object& memory_limit,
                       const std::string& temporary_folder) {
  RunOptions options;
  options.holes = allow_holes ? Holes::allowed : Holes::refused;
  options.sites = sites;
  options.threads = threads;
  if (!memory_limit.is_none()) options.memory_limit = limit_of(memory_limit);
  options.temporary_folder = temporary_folder;
  return options;
}

Relation run_plan(const Plan& plan, bool allow_holes, int sites, int threads,
                  const py::object& memory_limit, const std::string& temporary_folder,
                  const py::object& progress) {
  RunOptions options = run_options(allow_holes, sites, threads, memory_limit, temporary_folder);
  Watched<Relation, Progress> watched(progress);
  options.stop = watched.stop();
  options.progress = watched.listener();
  return watched.result([&] { return plan.run(options); });
}

py::dict store_plan(Database& database, const std::string& name, const Plan& plan, bool allow_holes,
                    int sites, int threads, const py::object& memory_limit,
                    const std::string& temporary_folder, const py::object& progress) {
  RunOptions options = run_options(allow_holes, sites, threads, memory_limit, temporary_folder);
  Watched<RunReport, Progress> watched(progress);
  options.stop = watched.stop();
  options.progress = watched.listener();
  const RunReport report = watched.result([&] {
    RunReport made;
    database.store(name, plan, options, &made);
    return made;
  });
  return py::dict(py::arg("seconds") = report.seconds, py::arg("tasks") = report.tasks,
                  py::arg("flops") = report.flops, py::arg("peak_bytes") = report.peak_bytes,
                  py::arg("bytes_read") = report.bytes_read,
                  py::arg("bytes_spilled") = report.bytes_spilled);
}

py::dict forecast_plan(const Plan& plan, bool allow_holes, int sites, int threads,
                       const py::object& memory_limit, bool stored) {
  const RunOptions options = run_options(allow_holes, sites, threads, memory_limit, "");
  const MemoryForecast made = watched(
      [&] { return forecast(plan, options, stored ? Results::handed_over : Results::kept); });
  return py::dict(py::arg("limit") = made.limit, py::arg("needed") = made.needed,
                  py::arg("peak") = made.peak, py::arg("read") = made.read,
                  py::arg("spilled") = made.spilled, py::arg("order") = made.order);
}

void bind_running(py::module_& module) {
  py::class_<Progress>(module, "Progress", "The progress of a run.")
      .def_readonly("tasks_done", &Progress::tasks_done, "Tasks that have ended.")
      .def_readonly("tasks", &Progress::tasks, "All tasks.")
      .def_readonly("floats_moved", &Progress::floats_moved,
                    "Numbers that were moved between sites.")
      .def_readonly("flops_done", &Progress::flops_done, "Flops of the tasks that have ended.")
      .def_readonly("flops", &Progress::flops, "Flops of all tasks.")
      .def_readonly("bytes_live", &Progress::bytes_live, "Bytes of tiles in memory.")
      .def_readonly("bytes_read", &Progress::bytes_read, "Bytes read from disk.")
      .def_readonly("bytes_spilled", &Progress::bytes_spilled, "Bytes spilled to disk.")
      .def_readonly("seconds", &Progress::seconds, "Seconds since the begin.")
      .def_readonly("seconds_left", &Progress::seconds_left,
                    "An estimate of the seconds that are left.")
      .def_readonly("frame", &Progress::frame, "The frame that runs, from 1.")
      .def_readonly("frames", &Progress::frames, "The number of frames.");
  module.def(
      "set_cluster_timeout", [](double seconds) { set_cluster_timeout(seconds); },
      py::arg("seconds"),
      "Sets the seconds without a message after which another process of the cluster counts as "
      "lost, which raises a ClusterError. 0: the default, 300.");
}

}  // namespace tessera::python
