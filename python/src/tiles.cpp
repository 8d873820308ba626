#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "interpreter.h"
#include "tile/dispatch.h"

namespace tessera::python {
namespace {

py::dtype numpy_dtype(DType dtype) {
  return visit_dtype(dtype, []<class T>() { return py::dtype::of<T>(); });
}

std::optional<DType> our_dtype(const py::dtype& dtype) {
  for (DType candidate : {DType::f32, DType::f64, DType::i64, DType::boolean})
    if (dtype.is(numpy_dtype(candidate)) ||
        (dtype.kind() == numpy_dtype(candidate).kind() &&
         dtype.itemsize() == numpy_dtype(candidate).itemsize() &&
         dtype.attr("isnative").cast<bool>()))
      return candidate;
  return std::nullopt;
}

/// Keeps a Python object alive for as long as a tile reads its memory. The last tile may be
/// released by any thread, so the release takes the interpreter's lock.
std::shared_ptr<const void> hold(const py::object& object) {
  return {object.ptr(), [kept = new py::object(object)](const void*) {
            // An interpreter that ends takes the object with it.
            if (const Locked lock; lock) delete kept;
          }};
}

/// A sparse tile over arrays from Python. Offsets and coordinates are copied, because they are
/// checked once and a program that changed them afterwards would read foreign memory; the values
/// are not.
Tile sparse_tile(const TileType& type, const py::object& offsets, const py::object& coordinates,
                 const py::object& values) {
  const py::object numpy = py::module_::import("numpy");
  const auto integers = [&](const py::object& array) {
    return numpy.attr("array")(array, "int64").cast<py::array>();
  };
  const py::array dense = integers(offsets);
  const py::array sparse = integers(coordinates);
  TESSERA_REQUIRE(TypeError, type.sparse_dims >= 1 && type.sparse_dims <= type.shape.rank(),
                  "shape {} cannot have {} sparse dimensions", to_string(type.shape),
                  type.sparse_dims);
  const std::int64_t rows =
      Shape(type.shape.begin(), type.shape.end() - type.sparse_dims).elements();
  TESSERA_REQUIRE(TypeError, dense.ndim() == 1 && dense.size() == rows + 1,
                  "{} needs {} offsets, not {}", to_string(type), rows + 1, dense.size());
  const auto* ends = static_cast<const std::int64_t*>(dense.data());
  TESSERA_REQUIRE(TypeError, std::is_sorted(ends, ends + rows + 1) && ends[0] >= 0,
                  "{}: the offsets must not decrease", to_string(type));
  const bool no_values = type.dtype == DType::boolean;
  const py::array kept =
      no_values ? py::array(sparse) : numpy.attr("ascontiguousarray")(values).cast<py::array>();
  TESSERA_REQUIRE(TypeError,
                  sparse.ndim() == 1 && sparse.size() >= ends[rows] && kept.size() >= ends[rows],
                  "{} has {} entries by its offsets but fewer coordinates or values",
                  to_string(type), ends[rows]);
  return Tile::wrap_sparse(type, ends, static_cast<const std::int64_t*>(sparse.data()),
                           no_values ? nullptr : kept.data(),
                           hold(py::make_tuple(dense, sparse, kept)));
}

Tile tile_from_scipy(const py::object& matrix, int sparse_dims) {
  py::object csr;
  try {
    csr = matrix.attr("tocsr")();
    csr.attr("check_format")(true);
  } catch (const py::error_already_set& error) {
    throw TypeError(std::string("invalid sparse matrix: ") + error.what());
  }
  const std::optional<DType> known = our_dtype(csr.attr("dtype").cast<py::dtype>());
  if (!known)
    throw TypeError(
        "unsupported dtype of a sparse matrix: " + py::str(csr.attr("dtype")).cast<std::string>() +
        "; cast it to float32, float64, int64 or bool");
  const bool canonical = csr.attr("has_canonical_format").cast<bool>();
  if (!canonical || *known == DType::boolean) {  // sparse booleans store no false
    if (csr.is(matrix)) csr = csr.attr("copy")();
    csr.attr("sum_duplicates")();
    if (*known == DType::boolean) csr.attr("eliminate_zeros")();
  }
  const auto shape = csr.attr("shape").cast<std::vector<std::int64_t>>();
  return sparse_tile({*known, as_inline<Shape>(shape), 1}, csr.attr("indptr"), csr.attr("indices"),
                     csr.attr("data"))
      .with_sparse_dims(sparse_dims);
}

/// Memory of a tile as a read-only array that keeps the tile alive.
py::array view_of(const Tile& tile, DType dtype, const std::vector<py::ssize_t>& shape,
                  const std::vector<py::ssize_t>& strides, const void* data) {
  const py::capsule owner(new Tile(tile), [](void* kept) { delete static_cast<Tile*>(kept); });
  py::array array(numpy_dtype(dtype), shape, strides, data, owner);
  array.attr("flags").attr("writeable") = false;
  return array;
}

py::array vector_view(const Tile& tile, DType dtype, std::int64_t count, const void* data) {
  const auto size = static_cast<py::ssize_t>(size_of(dtype));
  return view_of(tile, dtype, {count}, {size}, data);
}

py::object tile_to_scipy(const Tile& given) {
  if (given.rank() != 2)
    throw TypeError("a SciPy sparse matrix must have two dimensions, unlike " +
                    to_string(given.type()));
  const Tile tile = given.with_sparse_dims(1);
  const std::int64_t first = tile.offsets()[0];
  const std::int64_t stored = tile.stored();
  py::object offsets = vector_view(tile, DType::i64, tile.rows() + 1, tile.offsets());
  if (first != 0) offsets = offsets - py::int_(first);  // a slice: SciPy counts from 0
  const py::array indices = vector_view(tile, DType::i64, stored, tile.coordinates() + first);
  py::object data;
  if (tile.dtype() == DType::boolean) {
    data = py::module_::import("numpy").attr("ones")(stored, "bool");
  } else {
    const auto skip = first * static_cast<std::int64_t>(size_of(tile.dtype()));
    data = vector_view(tile, tile.dtype(), stored, tile.bytes_begin() + skip);
  }
  return py::module_::import("scipy.sparse")
      .attr("csr_matrix")(py::make_tuple(data, indices, offsets),
                          py::arg("shape") = as_tuple(tile.shape()), py::arg("copy") = false);
}

std::vector<py::ssize_t> byte_strides(const Tile& tile) {
  std::vector<py::ssize_t> strides;
  for (std::int64_t stride : tile.strides())
    strides.push_back(stride * static_cast<py::ssize_t>(size_of(tile.dtype())));
  return strides;
}

}  // namespace

Tile tile_from_numpy(const py::array& given) {
  const std::optional<DType> dtype = our_dtype(given.dtype());
  if (!dtype)
    throw TypeError("unsupported dtype of an array: " + py::str(given.dtype()).cast<std::string>() +
                    "; cast it to float32, float64, int64 or bool");
  py::array array = given;
  Shape shape;
  Strides strides;
  const auto size = static_cast<py::ssize_t>(size_of(*dtype));
  for (py::ssize_t i = 0; i < array.ndim(); ++i) {
    shape.push_back(array.shape(i));
    strides.push_back(array.strides(i) / size);
  }
  bool whole =
      reinterpret_cast<std::uintptr_t>(array.data()) % static_cast<std::uintptr_t>(size) == 0;
  for (py::ssize_t i = 0; i < array.ndim(); ++i) whole = whole && array.strides(i) % size == 0;
  if (!whole) {  // a field of a record array, say: its elements are not where we can point
    array =
        py::module_::import("numpy").attr("array")(given, py::arg("order") = "C").cast<py::array>();
    return Tile::wrap(*dtype, shape, array.data(), hold(array));
  }
  return Tile::wrap(*dtype, shape, strides, array.data(), hold(array));
}

py::array tile_to_numpy(const Tile& given) {
  const Tile tile = given.dense();
  const std::vector<py::ssize_t> shape(tile.shape().begin(), tile.shape().end());
  return view_of(tile, tile.dtype(), shape, byte_strides(tile), tile.bytes_begin());
}

Tile as_tile(const py::handle& object) {
  if (py::isinstance<Tile>(object)) return object.cast<Tile>();
  if (py::hasattr(object, "tocsr"))
    return tile_from_scipy(py::reinterpret_borrow<py::object>(object), 1);
  const py::object numpy = py::module_::import("numpy");
  return tile_from_numpy(numpy.attr("asarray")(object).cast<py::array>());
}

void bind_tiles(py::module_& module) {
  py::class_<Tile>(module, "Tile", "An immutable tensor of rank 0 to 8, dense or sparse.")
      .def(py::init(&as_tile), py::arg("array"),
           "Creates a tile from a NumPy array (without a copy), a SciPy sparse matrix or a nested "
           "list.")
      .def_static(
          "zeros",
          [](const std::vector<std::int64_t>& shape, const std::string& dtype, int sparse_dims) {
            return Tile::zeros(parse_dtype(dtype), as_inline<Shape>(shape), sparse_dims);
          },
          py::arg("shape"), py::arg("dtype") = "f64", py::arg("sparse_dims") = 0,
          "Creates a tile of zeros.")
      .def_static(
          "from_scipy",
          [](const py::object& matrix, int dims) { return tile_from_scipy(matrix, dims); },
          py::arg("matrix"), py::arg("sparse_dims") = 1,
          "Creates a sparse tile from a SciPy sparse matrix.")
      .def_static(
          "random",
          [](const std::vector<std::int64_t>& shape, std::uint64_t seed, const std::string& dtype,
             std::optional<double> low, std::optional<double> high, std::optional<double> density,
             int sparse_dims) {
            const Shape extents = as_inline<Shape>(shape);
            const DType type = parse_dtype(dtype);
            if (density) return random_sparse({type, extents, sparse_dims}, seed, *density);
            if (type != DType::i64)
              return random_uniform(type, extents, seed, low.value_or(0), high.value_or(1));
            TESSERA_REQUIRE(TypeError, low && high,
                            "random integers need low and high; the range is low to high - 1");
            return random_integers(type, extents, seed, static_cast<std::int64_t>(*low),
                                   static_cast<std::int64_t>(*high));
          },
          py::arg("shape"), py::arg("seed") = 0, py::arg("dtype") = "f64",
          py::arg("low") = std::nullopt, py::arg("high") = std::nullopt,
          py::arg("density") = std::nullopt, py::arg("sparse_dims") = 1,
          "Creates a tile of uniform random numbers in [low, high), by default [0, 1). Booleans "
          "are true with probability 1/2. With a density, the tile is sparse.")
      .def_static(
          "from_arrays",
          [](const std::vector<std::int64_t>& shape, int sparse_dims, const py::object& offsets,
             const py::object& coordinates, const py::object& values) {
            const DType dtype = values.is_none() ? DType::boolean : as_tile(values).dtype();
            return sparse_tile({dtype, as_inline<Shape>(shape), sparse_dims}, offsets, coordinates,
                               values);
          },
          py::arg("shape"), py::arg("sparse_dims"), py::arg("offsets"), py::arg("coordinates"),
          py::arg("values") = py::none(),
          "Creates a sparse tile from its three arrays. The values are not copied.")
      .def_property_readonly(
          "shape", [](const Tile& t) { return as_tuple(t.shape()); }, "The shape.")
      .def_property_readonly(
          "dtype", [](const Tile& t) { return std::string(to_string(t.dtype())); },
          "The dtype: 'f32', 'f64', 'i64' or 'bool'.")
      .def_property_readonly("rank", &Tile::rank, "The number of dimensions.")
      .def_property_readonly("sparse_dims", &Tile::sparse_dims,
                             "The number of sparse dimensions; 0: dense.")
      .def_property_readonly("is_sparse", &Tile::is_sparse, "Whether the tile is sparse.")
      .def_property_readonly("stored", &Tile::stored, "The number of stored elements.")
      .def_property_readonly("nbytes", &Tile::bytes, "The size in bytes.")
      .def_property_readonly(
          "type", [](const Tile& t) { return to_string(t.type()); }, "The type, as a str.")
      .def_property_readonly("T", &Tile::transpose, "The transpose, a view.")
      .def("numpy", &tile_to_numpy,
           "Returns a read-only NumPy array. The memory of a dense tile is not copied.")
      .def("__array__", [](const Tile& t, const py::args&) { return tile_to_numpy(t); })
      .def("scipy", &tile_to_scipy,
           "Returns a SciPy csr_matrix. The arrays of a sparse tile are not copied.")
      .def("__getitem__", &indexed,
           "Indexes with integers, slices and `...`. Returns a view of a dense tile.")
      .def("__len__",
           [](const Tile& t) {
             TESSERA_REQUIRE(TypeError, t.rank() > 0, "a tile of rank 0 has no length");
             return t.shape()[0];
           })
      .def("dense", &Tile::dense, "Returns the tile in dense layout.")
      .def(
          "sparse", [](const Tile& t, int dims) { return t.with_sparse_dims(dims); },
          py::arg("sparse_dims") = 1, "Returns the tile in sparse layout.")
      .def(
          "cast", [](const Tile& t, const std::string& d) { return t.cast(parse_dtype(d)); },
          py::arg("dtype"), "Converts the elements to another dtype.")
      .def("__str__", [](const Tile& t) { return to_string(t); })
      .def("__repr__", [](const Tile& t) {
        return "tessera.Tile " + to_string(t.type()) + (t.is_sparse() ? "" : "\n" + to_string(t));
      });
  py::implicitly_convertible<py::array, Tile>();
}

}  // namespace tessera::python
