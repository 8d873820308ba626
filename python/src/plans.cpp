#include "watched.h"

namespace tessera::python {
namespace {

std::string as_text(const py::object& object, const char* what) {
  if (!py::isinstance<py::str>(object))
    throw TypeError(py::repr(object).cast<std::string>() + " is not " + what +
                    "; give an expression as a text, or a function");
  return object.cast<std::string>();
}

Apply as_apply(const py::handle& object) {
  if (py::isinstance<py::int_>(object)) return Apply::column(object.cast<int>());
  if (py::isinstance<py::str>(object)) return Apply(object.cast<std::string>());
  if (py::isinstance<KernelCall>(object)) return Apply(object.cast<KernelCall>());
  const auto parts = object.cast<py::sequence>();  // (kernel, columns[, names])
  const Apply whole = as_apply(parts[0]);
  TESSERA_REQUIRE(TypeError, whole.kernel && whole.columns.empty(),
                  "{} stands where a kernel is expected", whole.to_string());
  return {*whole.kernel, py::object(parts[1]).cast<std::vector<int>>(),
          parts.size() > 2 ? py::object(parts[2]).cast<std::vector<std::string>>()
                           : std::vector<std::string>{}};
}

std::vector<Apply> as_projection(const py::handle& object) {
  if (!py::isinstance<py::list>(object)) return {as_apply(object)};
  std::vector<Apply> projection;
  for (const py::handle& apply : object) projection.push_back(as_apply(apply));
  return projection;
}

std::vector<KernelCall> as_folds(const py::handle& object, std::size_t columns) {
  std::vector<KernelCall> folds;
  for (const Apply& apply : as_projection(object)) {
    TESSERA_REQUIRE(TypeError, apply.kernel, "{} cannot fold: it is no kernel", apply.to_string());
    folds.push_back(*apply.kernel);
  }
  return folds.size() == 1 ? std::vector<KernelCall>(columns, folds.front()) : folds;
}

py::dict as_dict(const Verdict& verdict) {
  const char* answers[] = {"yes", "no", "unknown"};
  return py::dict(py::arg("answer") = answers[static_cast<int>(verdict.answer)],
                  py::arg("key") = as_tuple(verdict.key), py::arg("reason") = verdict.reason);
}

py::dict as_dict(const Closedness& closed) {
  py::dict result;
  result["non_negative"] = as_dict(closed.non_negative);
  result["unique"] = as_dict(closed.unique);
  result["continuous"] = as_dict(closed.continuous);
  result["frontier"] =
      closed.frontier_known ? py::object(as_tuple(closed.frontier)) : py::object(py::none());
  result["cardinality"] = closed.cardinality;
  result["method"] = closed.method;
  return result;
}

/// A Python function that C++ may copy and drop without the interpreter's lock.
std::shared_ptr<py::object> shared_callable(const py::object& object) {
  return {new py::object(object), [](py::object* kept) {
            if (const Locked lock; lock) delete kept;
          }};
}

KeyPredicate as_predicate(const py::object& object) {
  if (!PyCallable_Check(object.ptr())) return KeyPredicate::parse(as_text(object, "a predicate"));
  return KeyPredicate::opaque("python", [function = shared_callable(object)](const Key& key) {
    const Locked lock;
    lock.require();
    return (*function)(*as_tuple(key)).cast<bool>();
  });
}

KeyFunction as_key_function(const py::object& object, int output_arity) {
  if (!PyCallable_Check(object.ptr())) return KeyFunction::parse(as_text(object, "a key function"));
  return KeyFunction::opaque("python", output_arity,
                             [function = shared_callable(object)](const Key& key) {
                               const Locked lock;
                               lock.require();
                               return as_key((*function)(*as_tuple(key)));
                             });
}

}  // namespace

void bind_plans(py::module_& module) {
  py::class_<Plan>(
      module, "Plan",
      "A plan: an immutable expression of the tensor relational algebra. run() computes it.")
      .def(
          py::init([](const Relation& r, const std::string& name) { return Plan::input(r, name); }),
          py::arg("relation"), py::arg("name") = "", "Creates a plan that reads a relation.")
      .def_static(
          "virtual",
          [](const std::vector<std::int64_t>& frontier, const std::vector<std::int64_t>& bound,
             const std::string& dtype, const std::string& name) {
            return Plan::input(RelationType{{{"", {parse_dtype(dtype), as_inline<Shape>(bound)}}},
                                            as_inline<Key>(frontier)},
                               name);
          },
          py::arg("frontier"), py::arg("tile"), py::arg("dtype") = "f64", py::arg("name") = "",
          "Creates an input that has a type but no data. Its plans can be explained, but not run.")
      .def(
          "aggregate",
          [](const Plan& p, const std::vector<int>& by, const py::object& kernel) {
            return p.aggregate(by, as_folds(kernel, p.type().columns.size()));
          },
          py::arg("group_by"), py::arg("kernel"),
          "Groups tuples by key components and combines the tiles of each group with a kernel. The "
          "sums of the columns of tiles:\n\n    a.aggregate([1], \"add\")")
      .def(
          "join",
          [](const Plan& l, const Plan& r, const std::vector<int>& lk, const std::vector<int>& rk,
             const py::object& kernel) { return l.join(r, lk, rk, as_projection(kernel)); },
          py::arg("right"), py::arg("left_keys"), py::arg("right_keys"), py::arg("kernel"),
          "Joins tuples whose key components are equal and applies a kernel to their tiles. The "
          "key of the result is the left key, then the other components of the right key. A matrix "
          "product:\n\n    a.join(b, [1], [0], \"matmul\").aggregate([0, 2], \"add\")")
      .def(
          "rekey",
          [](const Plan& p, const py::object& f, std::optional<int> arity) {
            return p.rekey(as_key_function(f, arity.value_or(p.type().arity())));
          },
          py::arg("function"), py::arg("output_arity") = std::nullopt,
          "Replaces each key by a function of it, an expression or a callable. Keys must stay "
          "distinct. `output_arity` is the number of components that a callable returns:\n\n"
          "    a.rekey(\"<k1, k0>\")")
      .def(
          "filter",
          [](const Plan& p, const py::object& predicate) {
            return p.filter(as_predicate(predicate));
          },
          py::arg("predicate"),
          "Keeps the tuples whose keys satisfy a predicate, an expression or a callable:\n\n"
          "    a.filter(\"k0 = k1\")")
      .def(
          "transform",
          [](const Plan& p, const py::object& kernel) {
            return p.transform(as_projection(kernel));
          },
          py::arg("kernel"),
          "Applies a kernel to the tile of each tuple:\n\n    a.transform(\"relu\")")
      .def("tile", &Plan::tile, py::arg("dimension"), py::arg("size"),
           "Cuts each tile along a dimension into tiles of `size`. A new last key component "
           "numbers them:\n\n    a.tile(1, 2)")
      .def("concat", &Plan::concat, py::arg("key_component"), py::arg("dimension"),
           "Concatenates the tiles that differ only in a key component along a dimension, and "
           "removes the component. The inverse of tile():\n\n    a.tile(1, 2).concat(2, 1)")
      .def_property_readonly(
          "frontier", [](const Plan& p) { return as_tuple(p.frontier()); },
          "The exclusive upper bound of the keys, by component.")
      .def_property_readonly(
          "type", [](const Plan& p) { return to_string(p.type()); },
          "The type of the result, as a str.")
      .def_property_readonly(
          "cardinality",
          [](const Plan& p) {
            return py::make_tuple(p.cardinality().tuples, p.cardinality().exact);
          },
          "The number of tuples of the result, and whether it is exact; "
          "otherwise it is an upper bound.")
      .def_property_readonly(
          "closedness", [](const Plan& p) { return as_dict(p.closedness()); },
          "Whether the keys of the result are distinct and without holes, as a dict.")
      .def("explain", &explain_plan, py::arg("sites") = std::nullopt,
           py::arg("objective") = "exact", py::arg("alternatives") = true, py::arg("json") = false,
           py::arg("placed") = py::dict(), py::arg("disabled") = std::vector<std::string>{},
           py::arg("memory_limit") = py::none(),
           "Returns the plan as a tree. With `sites`, the physical plan for that many sites: "
           "placements, moves, and the costs of other algorithms. `placed` gives the Placements of "
           "inputs by name; None lets the optimizer choose. With `memory_limit`, also the bytes "
           "that "
           "a run with this limit would read and spill.")
      .def("run", &run_plan, py::arg("allow_holes") = false, py::arg("sites") = 1,
           py::arg("threads") = 0, py::arg("memory_limit") = py::none(),
           py::arg("temporary_folder") = "", py::arg("progress") = py::none(),
           "Runs the plan and returns its result, a Relation. `threads`: 0 for all cores. `sites`: "
           "the number of logical sites. `memory_limit`: bytes, or a str such as '512MB'; None for "
           "80% of the memory. Data that does not fit is spilled to `temporary_folder`. `progress` "
           "is called with a Progress from time to time, and at the end.")
      .def("forecast", &forecast_plan, py::arg("allow_holes") = false, py::arg("sites") = 1,
           py::arg("threads") = 0, py::arg("memory_limit") = py::none(), py::arg("stored") = false,
           "Predicts the memory and disk use of a run without running it. Returns a dict with the "
           "limit, the least limit that suffices, the peak, the bytes read and spilled, and the "
           "order of the tasks. `stored`: the result is stored in a database.")
      .def(
          "interpret",
          [](const Plan& p, bool allow_holes) {
            return watched(
                [&] { return p.interpret(allow_holes ? Holes::allowed : Holes::refused); });
          },
          py::arg("allow_holes") = false,
          "Computes the plan tuple by tuple with the reference interpreter. It is slow; tests "
          "compare "
          "run() with it.")
      .def(
          "to_bytes", [](const Plan& p) { return py::bytes(to_bytes({p})); },
          "Serializes the plan, without the tiles of its inputs. Read it with Plan.from_bytes.")
      .def_static(
          "from_bytes",
          [](const std::string& bytes, const std::map<std::string, Plan>& inputs) {
            const auto find = [&](const std::string& name, const RelationType&) {
              const auto found = inputs.find(name);
              TESSERA_REQUIRE(PlanError, found != inputs.end(), "input '{}' of the plan is missing",
                              name);
              const auto* input = std::get_if<op::Input>(&operator_of(found->second));
              const bool nameless = input != nullptr && input->relation && input->name.empty();
              return nameless ? Plan::input(*input->relation, name) : found->second;
            };
            return plans_from_bytes(bytes, find).front();
          },
          py::arg("bytes"), py::arg("inputs") = std::map<std::string, Plan>{},
          "Deserializes a plan that to_bytes wrote. `inputs` maps the names of its inputs to "
          "relations or plans. Raises IoError for damaged bytes, and PlanError if an input does "
          "not "
          "fit.")
      .def("__repr__", &Plan::explain);
  py::implicitly_convertible<Relation, Plan>();
  // Here, where its signature can name the class of plans.
  py::reinterpret_borrow<py::class_<Relation>>(module.attr("Relation"))
      .def(
          "plan", [](const Relation& r, const std::string& name) { return Plan::input(r, name); },
          py::arg("name") = "", "Returns a plan that reads this relation.");

  module.def(
      "closedness",
      [](const std::vector<std::int64_t>& extents, const std::string& where,
         const std::string& map) {
        KeySet keys = KeySet::box(as_inline<Key>(extents));
        if (!where.empty()) keys = keys.filter(KeyPredicate::parse(where));
        if (!map.empty()) keys = keys.rekey(KeyFunction::parse(map));
        return as_dict(decide_closedness(keys));
      },
      py::arg("extents"), py::arg("where") = "", py::arg("map") = "",
      "Decides whether the keys below `extents` that satisfy the predicate `where`, mapped by the "
      "function `map`, are distinct and without holes. Returns a dict.");
}

}  // namespace tessera::python
