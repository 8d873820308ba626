#include "watched.h"

namespace tessera::python {
namespace {

Params as_params(const py::kwargs& given) {
  Params params;
  for (const auto& [name, value] : given) {
    const auto text = py::str(name).cast<std::string>();
    if (!value.is_none()) params.set(text, as_param(text, value));  // None: the default
  }
  return params;
}

/// What may take a while is watched, which takes a thread of its own and some microseconds.
std::vector<Tile> run(const KernelCall& kernel, const std::vector<Tile>& tiles) {
  constexpr double little = 1e7;  // flops and bytes
  std::vector<TileType> types;
  for (const Tile& tile : tiles) types.push_back(tile.type());
  (void)kernel.infer(types);  // says what does not fit
  const Cost cost = kernel.kernel().cost ? kernel.cost(types) : Cost{little, little};
  if (cost.flops + cost.bytes >= little) return watched([&] { return kernel.run(tiles); });
  const Unlocked unlocked;
  return kernel.run(tiles);
}

py::object call(const KernelCall& kernel, const py::args& arguments) {
  std::vector<Tile> tiles;
  for (const py::handle& argument : arguments) tiles.push_back(as_tile(argument));
  const std::vector<Tile> outputs = run(kernel, tiles);
  if (outputs.size() == 1) return py::cast(outputs.front());
  return as_tuple(outputs);
}

py::dict as_dict(const Properties& properties) {
  py::dict result;
  result["elementwise"] = properties.elementwise;
  result["associative"] = properties.associative;
  result["commutative"] = properties.commutative;
  result["idempotent"] = properties.idempotent;
  result["addition"] = properties.addition;
  result["identity"] = py::cast(properties.identity);
  result["zero_preserving"] = properties.zero_preserving;
  result["annihilated_by"] = properties.annihilated_by;
  result["linear_in"] = properties.linear_in;
  py::list over;
  for (const auto& claim : properties.distributes_over)
    over.append(py::make_tuple(claim.over, claim.argument));
  result["distributes_over"] = over;
  return result;
}

std::vector<TileType> types_of(const py::args& arguments) {
  std::vector<TileType> types;
  for (const py::handle& argument : arguments) types.push_back(as_tile(argument).type());
  return types;
}

}  // namespace

namespace {

std::int64_t as_integer(const std::string& name, const py::handle& object) {
  const auto index = py::reinterpret_steal<py::object>(PyNumber_Index(object.ptr()));
  int overflow = 0;
  const std::int64_t value = index ? PyLong_AsLongLongAndOverflow(index.ptr(), &overflow) : 0;
  PyErr_Clear();
  if (!index || overflow != 0)
    throw TypeError("parameter '" + name + "' must be a 64-bit integer, not " +
                    py::repr(object).cast<std::string>());
  return value;
}

}  // namespace

ParamValue as_param(const std::string& name, const py::handle& object) {
  const bool numpy_scalar = py::hasattr(object, "dtype") && py::hasattr(object, "item") &&
                            object.attr("ndim").cast<int>() == 0;
  if (numpy_scalar) return as_param(name, object.attr("item")());
  if (PyBool_Check(object.ptr())) return object.cast<bool>();
  if (PyIndex_Check(object.ptr()) != 0) return as_integer(name, object);
  if (PyFloat_Check(object.ptr())) return object.cast<double>();
  if (py::isinstance<py::str>(object)) return object.cast<std::string>();
  if (!py::isinstance<py::iterable>(object))
    throw TypeError("parameter '" + name + "' cannot be " + py::repr(object).cast<std::string>() +
                    "; use a number, a text, True or False, or a list of integers");
  std::vector<std::int64_t> values;
  for (const py::handle& value : object) values.push_back(as_integer(name, value));
  return values;
}

void bind_kernels(py::module_& module) {
  py::class_<KernelCall>(module, "Kernel",
                         "A kernel with values for its parameters. Call it with tiles or arrays.")
      .def(py::init([](const std::string& text, const py::kwargs& params) {
             return params.empty() ? KernelCall(text) : KernelCall(text, as_params(params));
           }),
           "Finds a kernel by name: Kernel('sum', axes=[0]) or Kernel('sum(axes=[0])').")
      .def("__call__", &call, "Computes the result for tiles or arrays.")
      .def_property_readonly(
          "name", [](const KernelCall& k) { return k.kernel().name; }, "The name.")
      .def_property_readonly(
          "description", [](const KernelCall& k) { return k.kernel().description; },
          "A description in one line.")
      .def_property_readonly(
          "properties", [](const KernelCall& k) { return as_dict(k.properties()); },
          "The algebraic properties, as a dict.")
      .def(
          "infer",
          [](const KernelCall& k, const py::args& arguments) {
            std::vector<std::string> printed;
            for (const TileType& type : k.infer(types_of(arguments)))
              printed.push_back(to_string(type));
            return printed;
          },
          "Returns the types of the results for tiles, without computing them.")
      .def(
          "cost",
          [](const KernelCall& k, const py::args& arguments) {
            const Cost cost = k.cost(types_of(arguments));
            return py::dict(py::arg("flops") = cost.flops, py::arg("bytes") = cost.bytes);
          },
          "Returns the flops and bytes of a call with tiles, without computing it.")
      .def("__repr__", [](const KernelCall& k) { return "tessera.Kernel " + k.to_string(); })
      .def("__str__", &KernelCall::to_string);
  py::implicitly_convertible<py::str, KernelCall>();

  module.def(
      "kernel_names",
      [] {
        std::vector<std::string> names;
        for (const auto& kernel : all_kernels()) names.push_back(kernel->name);
        return names;
      },
      "Returns the names of all kernels.");
  module.def(
      "kernel_aliases",
      [] {
        py::dict aliases;
        for (const auto& [alias, text] : all_aliases()) aliases[py::str(alias)] = text;
        return aliases;
      },
      "Returns the aliases of kernels: a dict from names to calls.");
  module.def(
      "kernel_reference",
      [] {
        py::list kernels;
        for (const auto& kernel : all_kernels()) {
          py::list parameters;
          for (const Parameter& parameter : kernel->parameters)
            parameters.append(py::make_tuple(parameter.name, py::cast(parameter.by_default),
                                             parameter.description));
          kernels.append(py::dict(
              py::arg("name") = kernel->name, py::arg("description") = kernel->description,
              py::arg("arguments") = py::make_tuple(kernel->min_arguments, kernel->max_arguments),
              py::arg("parameters") = parameters,
              py::arg("properties") = as_dict(kernel->properties),
              py::arg("aliases") = kernel->aliases));
        }
        return kernels;
      },
      "Returns the name, parameters, properties and aliases of every kernel.");
}

}  // namespace tessera::python
