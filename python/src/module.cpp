#include "interpreter.h"

PYBIND11_MODULE(_tessera, module) {
  module.doc() = "Tiles, kernels, tensor relations and the tensor relational algebra.";
  tessera::python::watch_interpreter();
  tessera::python::bind_errors(module);
  tessera::python::bind_tiles(module);
  tessera::python::bind_kernels(module);
  tessera::python::bind_running(module);
  tessera::python::bind_sites(module);
  tessera::python::bind_relations(module);
  tessera::python::bind_plans(module);
  tessera::python::bind_database(module);
}
