#include "watched.h"

namespace tessera::python {
namespace {

Presence as_presence(const std::string& text) {
  for (Presence presence : {Presence::continuous, Presence::sparse, Presence::partial})
    if (to_string(presence) == text) return presence;
  throw TypeError("'" + text + "' is not a presence; use 'continuous', 'sparse' or 'partial'");
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

}  // namespace

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

py::dict as_dict(const Statistics& statistics) {
  return py::dict(py::arg("tuples") = statistics.tuples, py::arg("nonzeros") = statistics.nonzeros,
                  py::arg("min") = statistics.min, py::arg("max") = statistics.max,
                  py::arg("distinct") = statistics.distinct);
}

void bind_relations(py::module_& module) {
  py::class_<Relation>(module, "Relation",
                       "A tensor relation: a set of tuples, each a distinct key with its tiles.")
      .def(py::init(&from_pairs), py::arg("tuples"), py::arg("presence") = "continuous",
           py::arg("frontier") = std::nullopt,
           "Creates a relation from a dict, or from pairs, of keys and tiles. A tuple of tiles "
           "makes "
           "several columns.")
      .def_static(
          "from_array",
          [](const py::object& array, const std::vector<std::int64_t>& tile,
             const std::string& presence) {
            return Relation::from_tensor(as_tile(array), as_inline<Shape>(tile),
                                         as_presence(presence));
          },
          py::arg("array"), py::arg("tile"), py::arg("presence") = "continuous",
          "Cuts a tensor into tiles of the given shape, without a copy.")
      .def(
          "numpy", [](const Relation& r, int column) { return tile_to_numpy(r.to_tensor(column)); },
          py::arg("column") = 0, "Joins the tiles of a column into one NumPy array.")
      .def("tensor", &Relation::to_tensor, py::arg("column") = 0,
           "Joins the tiles of a column into one tile.")
      .def_property_readonly(
          "frontier", [](const Relation& r) { return as_tuple(r.frontier()); },
          "The exclusive upper bound of the keys, by component.")
      .def_property_readonly(
          "presence", [](const Relation& r) { return std::string(to_string(r.type().presence)); },
          "What an absent key means: 'continuous', 'sparse' or 'partial'.")
      .def_property_readonly(
          "type", [](const Relation& r) { return to_string(r.type()); }, "The type, as a str.")
      .def_property_readonly(
          "columns",
          [](const Relation& r) {
            std::vector<std::string> names;
            for (const Column& c : r.type().columns) names.push_back(c.name);
            return names;
          },
          "The names of the columns.")
      .def("rename", &Relation::rename, py::arg("columns"),
           "Returns the relation with other names of its columns.")
      .def(
          "statistics", [](const Relation& r) { return as_dict(r.statistics()); },
          "Returns a dict with the number of tuples and of nonzeros, the smallest and the largest "
          "element, and the number of distinct values of each key component.")
      .def("__len__", &Relation::size)
      .def(
          "__getitem__",
          [](const Relation& r, const py::object& key) {
            const Key wanted = as_key(key);
            if (const Tuple* tuple = r.find(wanted)) return payload_of(*tuple);
            if (r.type().presence != Presence::sparse) throw py::key_error(to_string(wanted));
            Tuple absent{wanted, {}};
            for (std::size_t c = 0; c < r.type().columns.size(); ++c)
              absent.tiles.push_back(r.at(wanted, static_cast<int>(c)));
            return payload_of(absent);
          },
          "Returns the tile at a key, or a tuple of tiles if there are several columns.")
      .def(
          "items",
          [](const Relation& r) {
            py::list items;
            for (const Tuple& tuple : r.tuples())
              items.append(py::make_tuple(as_tuple(tuple.key), payload_of(tuple)));
            return items;
          },
          "Returns all (key, tile) pairs, ordered by key.")
      .def("__repr__", [](const Relation& r) { return to_string(r); });
}

}  // namespace tessera::python
