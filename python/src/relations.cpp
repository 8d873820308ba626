#include "watched.h"

namespace tessera::python {
namespace {

Presence as_presence(const std::string& text) {
  for (Presence presence : {Presence::continuous, Presence::sparse, Presence::partial})
    if (to_string(presence) == text) return presence;
  throw TypeError("'" + text + "' is not a presence; use 'continuous', 'sparse' or 'partial'");
}

std::string as_text(const py::object& object, const char* what) {
  if (!py::isinstance<py::str>(object))
    throw TypeError(py::repr(object).cast<std::string>() + " is not " + what +
                    "; give an expression as a text, or a function");
  return object.cast<std::string>();
}

/// A key as Python writes it: a tuple of integers, or one integer.
Key as_key(const py::object& object) {
  try {
    if (PyIndex_Check(object.ptr()) != 0)
      return Key{object.attr("__index__")().cast<std::int64_t>()};
    return as_inline<Key>(object.cast<std::vector<std::int64_t>>());
  } catch (const py::cast_error&) {
    throw TypeError(py::repr(object).cast<std::string>() +
                    " is not a key; use an integer or a tuple of integers");
  }
}

std::vector<Tile> as_tiles(const py::handle& payload) {
  std::vector<Tile> tiles;
  if (py::isinstance<py::tuple>(payload))  // a tuple has a tile a column; anything else is one tile
    for (const py::handle& column : payload) tiles.push_back(as_tile(column));
  else
    tiles.push_back(as_tile(payload));
  return tiles;
}

Relation from_pairs(const py::iterable& pairs, const std::string& presence,
                    const std::optional<std::vector<std::int64_t>>& frontier) {
  std::vector<Tuple> tuples;
  const py::object items =
      py::isinstance<py::dict>(pairs) ? py::object(pairs.attr("items")()) : py::object(pairs);
  for (const py::handle& pair : items) {
    const auto entry = pair.cast<std::pair<py::object, py::object>>();
    tuples.push_back({as_key(entry.first), as_tiles(entry.second)});
  }
  return Relation::of(std::move(tuples), as_presence(presence),
                      frontier ? std::optional<Key>(as_inline<Key>(*frontier)) : std::nullopt);
}

py::object payload_of(const Tuple& tuple) {
  if (tuple.tiles.size() == 1) return py::cast(tuple.tiles.front());
  return as_tuple(tuple.tiles);
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

py::dict as_dict(const Statistics& statistics) {
  return py::dict(py::arg("tuples") = statistics.tuples, py::arg("nonzeros") = statistics.nonzeros,
                  py::arg("min") = statistics.min, py::arg("max") = statistics.max,
                  py::arg("distinct") = statistics.distinct);
}

void bind_relations(py::module_& module) {
  py::class_<Relation>(module, "Relation", "A tensor relation: unique keys and tiles.")
      .def(py::init(&from_pairs), py::arg("tuples"), py::arg("presence") = "continuous",
           py::arg("frontier") = std::nullopt,
           "From a dict or pairs of keys and tiles; a tuple of tiles makes several columns.")
      .def_static(
          "from_array",
          [](const py::object& array, const std::vector<std::int64_t>& tile,
             const std::string& presence) {
            return Relation::from_tensor(as_tile(array), as_inline<Shape>(tile),
                                         as_presence(presence));
          },
          py::arg("array"), py::arg("tile"), py::arg("presence") = "continuous",
          "A tensor cut into tiles of a shape, without a copy.")
      .def(
          "numpy", [](const Relation& r, int column) { return tile_to_numpy(r.to_tensor(column)); },
          py::arg("column") = 0, "The whole tensor.")
      .def("tensor", &Relation::to_tensor, py::arg("column") = 0)
      .def_property_readonly("frontier", [](const Relation& r) { return as_tuple(r.frontier()); })
      .def_property_readonly(
          "presence", [](const Relation& r) { return std::string(to_string(r.type().presence)); })
      .def_property_readonly("type", [](const Relation& r) { return to_string(r.type()); })
      .def_property_readonly("columns",
                             [](const Relation& r) {
                               std::vector<std::string> names;
                               for (const Column& c : r.type().columns) names.push_back(c.name);
                               return names;
                             })
      .def("rename", &Relation::rename, py::arg("columns"))
      .def("statistics", [](const Relation& r) { return as_dict(r.statistics()); })
      .def("__len__", &Relation::size)
      .def("__getitem__",
           [](const Relation& r, const py::object& key) {
             const Key wanted = as_key(key);
             if (const Tuple* tuple = r.find(wanted)) return payload_of(*tuple);
             if (r.type().presence != Presence::sparse) throw py::key_error(to_string(wanted));
             Tuple absent{wanted, {}};
             for (std::size_t c = 0; c < r.type().columns.size(); ++c)
               absent.tiles.push_back(r.at(wanted, static_cast<int>(c)));
             return payload_of(absent);
           })
      .def("items",
           [](const Relation& r) {
             py::list items;
             for (const Tuple& tuple : r.tuples())
               items.append(py::make_tuple(as_tuple(tuple.key), payload_of(tuple)));
             return items;
           })
      .def(
          "plan", [](const Relation& r, const std::string& name) { return Plan::input(r, name); },
          py::arg("name") = "")
      .def("__repr__", [](const Relation& r) { return to_string(r); });

  py::class_<Plan>(module, "Plan", "An expression of the tensor relational algebra.")
      .def(
          py::init([](const Relation& r, const std::string& name) { return Plan::input(r, name); }),
          py::arg("relation"), py::arg("name") = "")
      .def_static(
          "virtual",
          [](const std::vector<std::int64_t>& frontier, const std::vector<std::int64_t>& bound,
             const std::string& dtype, const std::string& name) {
            return Plan::input(RelationType{{{"", {parse_dtype(dtype), as_inline<Shape>(bound)}}},
                                            as_inline<Key>(frontier)},
                               name);
          },
          py::arg("frontier"), py::arg("tile"), py::arg("dtype") = "f64", py::arg("name") = "",
          "An input without data, known only by its type; its plans can be explained but not run.")
      .def(
          "aggregate",
          [](const Plan& p, const std::vector<int>& by, const py::object& kernel) {
            return p.aggregate(by, as_folds(kernel, p.type().columns.size()));
          },
          py::arg("group_by"), py::arg("kernel"))
      .def(
          "join",
          [](const Plan& l, const Plan& r, const std::vector<int>& lk, const std::vector<int>& rk,
             const py::object& kernel) { return l.join(r, lk, rk, as_projection(kernel)); },
          py::arg("right"), py::arg("left_keys"), py::arg("right_keys"), py::arg("kernel"))
      .def(
          "rekey",
          [](const Plan& p, const py::object& f, std::optional<int> arity) {
            return p.rekey(as_key_function(f, arity.value_or(p.type().arity())));
          },
          py::arg("function"), py::arg("output_arity") = std::nullopt)
      .def(
          "filter",
          [](const Plan& p, const py::object& predicate) {
            return p.filter(as_predicate(predicate));
          },
          py::arg("predicate"))
      .def(
          "transform",
          [](const Plan& p, const py::object& kernel) {
            return p.transform(as_projection(kernel));
          },
          py::arg("kernel"))
      .def("tile", &Plan::tile, py::arg("dimension"), py::arg("size"))
      .def("concat", &Plan::concat, py::arg("key_component"), py::arg("dimension"))
      .def_property_readonly("frontier", [](const Plan& p) { return as_tuple(p.frontier()); })
      .def_property_readonly("type", [](const Plan& p) { return to_string(p.type()); })
      .def_property_readonly("cardinality",
                             [](const Plan& p) {
                               return py::make_tuple(p.cardinality().tuples, p.cardinality().exact);
                             })
      .def_property_readonly("closedness", [](const Plan& p) { return as_dict(p.closedness()); })
      .def(
          "explain", &explain_plan, py::arg("sites") = std::nullopt, py::arg("objective") = "exact",
          py::arg("alternatives") = true, py::arg("json") = false, py::arg("placed") = py::dict(),
          py::arg("disabled") = std::vector<std::string>{}, py::arg("memory_limit") = py::none(),
          "The plan as a tree. With `sites`, as it would run there: where results lie, what moves, "
          "and what other algorithms would cost. `placed` says how inputs lie, by name; None lets "
          "one lie anywhere. With `memory_limit`, also what a run within it would read and spill.")
      .def("run", &run_plan, py::arg("allow_holes") = false, py::arg("sites") = 1,
           py::arg("threads") = 0, py::arg("memory_limit") = py::none(),
           py::arg("temporary_folder") = "", py::arg("progress") = py::none(),
           "Evaluates the plan on `threads` threads (0: all cores), spread over `sites` logical "
           "sites, holding at most `memory_limit` bytes ('512MB'; None: 80% of what there is): "
           "what does not fit goes to `temporary_folder`. `progress` is called with a Progress now "
           "and then, and at the end.")
      .def("forecast", &forecast_plan, py::arg("allow_holes") = false, py::arg("sites") = 1,
           py::arg("threads") = 0, py::arg("memory_limit") = py::none(), py::arg("stored") = false,
           "What a run would need, found without running: the limit, the least it can do with, the "
           "peak, what is read from and spilled to disk, and the order of the work. `stored`: its "
           "result goes to a database as it comes.")
      .def(
          "interpret",
          [](const Plan& p, bool allow_holes) {
            return watched(
                [&] { return p.interpret(allow_holes ? Holes::allowed : Holes::refused); });
          },
          py::arg("allow_holes") = false,
          "The same by definition, one tuple after the other: slow, and what `run` is held to.")
      .def(
          "to_bytes", [](const Plan& p) { return py::bytes(to_bytes({p})); },
          "The plan as bytes, for another process to run: all but the tiles of its inputs, which "
          "`Plan.from_bytes` is given there.")
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
          "Reads a plan that `to_bytes` wrote, over these inputs by name: relations, or plans that "
          "are inputs. IoError if the bytes are damaged, PlanError if an input does not fit.")
      .def("__repr__", &Plan::explain);
  py::implicitly_convertible<Relation, Plan>();

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
      "Whether the keys below `extents` that satisfy `where`, mapped by `map`, are unique and "
      "without holes.");
}

}  // namespace tessera::python
