#include "base/check.h"
#include "bindings.h"

namespace tessera::python {
namespace {

/// The parts of an index, one a dimension: `...` stands for as many full slices as are missing.
std::vector<py::object> spelled_out(const Tile& tile, const py::object& key) {
  const py::tuple parts = py::isinstance<py::tuple>(key) ? py::tuple(key) : py::make_tuple(key);
  std::vector<py::object> result;
  const auto fill = [&](std::size_t given) {
    while (result.size() + given < static_cast<std::size_t>(tile.rank()))
      result.emplace_back(py::slice(std::nullopt, std::nullopt, std::nullopt));
  };
  bool dots = false;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const py::object part = parts[i];
    if (part.is(py::ellipsis())) {
      TESSERA_REQUIRE(TypeError, !dots, "an index into {} can only have a single ellipsis",
                      to_string(tile.type()));
      dots = true;
      fill(parts.size() - i - 1);
    } else {
      result.push_back(part);
    }
  }
  fill(0);
  TESSERA_REQUIRE(TypeError, result.size() == static_cast<std::size_t>(tile.rank()),
                  "wrong number of indices: {} for {}", result.size(), to_string(tile.type()));
  return result;
}

/// The tile without some dimensions of extent 1; a dense tile's memory is not copied.
Tile without(const Tile& tile, const std::vector<bool>& dropped) {
  Shape shape;
  Strides strides;
  for (int d = 0; d < tile.rank(); ++d) {
    if (dropped[d]) continue;
    shape.push_back(tile.shape()[d]);
    if (!tile.is_sparse()) strides.push_back(tile.strides()[d]);
  }
  if (shape.rank() == tile.rank()) return tile;
  if (tile.is_sparse()) return tile.reshape(shape);
  return Tile::wrap(tile.dtype(), shape, strides, tile.bytes_begin(),
                    std::make_shared<const Tile>(tile));
}

}  // namespace

Tile indexed(const Tile& tile, const py::object& key) {
  const std::vector<py::object> parts = spelled_out(tile, key);
  Index begin;
  Index end;
  Strides steps;
  std::vector<bool> dropped;
  for (int d = 0; d < tile.rank(); ++d) {
    const std::int64_t extent = tile.shape()[d];
    py::ssize_t from = 0;
    py::ssize_t to = 0;
    py::ssize_t step = 1;
    if (py::isinstance<py::slice>(parts[d])) {
      if (PySlice_Unpack(parts[d].ptr(), &from, &to, &step) < 0) throw py::error_already_set();
      if (PySlice_AdjustIndices(extent, &from, &to, step) == 0) from = to = 0, step = 1;
    } else {
      TESSERA_REQUIRE(TypeError, PyIndex_Check(parts[d].ptr()) != 0,
                      "invalid index {}: use integers, slices and ...",
                      py::repr(parts[d]).cast<std::string>());
      const auto place = parts[d].attr("__index__")().cast<std::int64_t>();
      if (place < -extent || place >= extent)  // what ends Python's iteration over a tile
        throw py::index_error(fmt::format("index {} is out of bounds for dimension {} of {}", place,
                                          d, to_string(tile.type())));
      from = place < 0 ? place + extent : place;
      to = from + 1;
    }
    dropped.push_back(!py::isinstance<py::slice>(parts[d]));
    begin.push_back(from);
    end.push_back(to);
    steps.push_back(step);
  }
  return without(tile.slice(begin, end, steps), dropped);
}

}  // namespace tessera::python
