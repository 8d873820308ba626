#include "watched.h"

namespace tessera::python {

Relation run_plan(const Plan& plan, bool allow_holes, int sites, int threads,
                  const py::object& progress) {
  RunOptions options;
  options.holes = allow_holes ? Holes::allowed : Holes::refused;
  options.sites = sites;
  options.threads = threads;
  Watched<Relation, Progress> watched(progress);
  options.stop = watched.stop();
  options.progress = watched.listener();
  return watched.result([&] { return plan.run(options); });
}

void bind_running(py::module_& module) {
  py::class_<Progress>(module, "Progress", "How far a run has come.")
      .def_readonly("tasks_done", &Progress::tasks_done)
      .def_readonly("tasks", &Progress::tasks)
      .def_readonly("floats_moved", &Progress::floats_moved)
      .def_readonly("flops_done", &Progress::flops_done)
      .def_readonly("flops", &Progress::flops)
      .def_readonly("bytes_live", &Progress::bytes_live)
      .def_readonly("seconds", &Progress::seconds)
      .def_readonly("seconds_left", &Progress::seconds_left);
}

}  // namespace tessera::python
