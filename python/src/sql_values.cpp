#include "sql_values.h"

#include <fmt/format.h>

#include "base/check.h"

// Values of Python as values of SQL.

namespace tessera::python {
namespace {

/// Which value it is, from 1, and of which row, for errors.
struct Which {
  std::size_t number = 1;
  std::optional<std::int64_t> row = {};

  std::string text() const {
    return row ? fmt::format("value {} of row {}", number, *row)
               : fmt::format("value {} for ?", number);
  }
};

std::string type_name(const py::handle& object) {
  return py::str(py::type::handle_of(object).attr("__name__")).cast<std::string>();
}

[[noreturn]] void refuse(const Which& which, const py::handle& object) {
  throw TypeError(fmt::format(
      "{} has type {}, which SQL does not support; use None, a bool, an int, a float, a str "
      "or a NumPy number, or for a tensor an array, a nested list of numbers, a sparse "
      "matrix or a Tile",
      which.text(), type_name(object)));
}

std::string as_text(const Which& which, const py::handle& object) {
  py::ssize_t length = 0;
  const char* text = PyUnicode_AsUTF8AndSize(object.ptr(), &length);
  if (text == nullptr) {
    PyErr_Clear();
    throw ValueError(which.text() +
                     " is not valid Unicode text, because it has lone surrogates; encode or "
                     "replace them");
  }
  return {text, static_cast<std::size_t>(length)};
}

std::int64_t as_integer(const Which& which, const py::handle& object) {
  int overflow = 0;
  const std::int64_t number = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
  TESSERA_REQUIRE(ValueError, overflow == 0, "{} is out of range for BIGINT: {}", which.text(),
                  py::str(object).cast<std::string>());
  return number;
}

Tile as_tensor(const Which& which, const py::handle& object) {
  try {
    return as_tile(object);
  } catch (const TypeError& error) {
    throw TypeError(fmt::format("{}: {}", which.text(), error.what()));
  } catch (const py::error_already_set& error) {
    // NumPy's own, as of lists that are not all of a length; Ctrl-C is no matter of the value.
    if (!error.matches(PyExc_ValueError) && !error.matches(PyExc_TypeError)) throw;
    throw TypeError(fmt::format("cannot convert {} of type {} to an array: {}", which.text(),
                                type_name(object), py::str(error.value()).cast<std::string>()));
  }
}

SqlValue as_value(const Which& which, const py::handle& object) {
  if (object.is_none()) return {};
  if (PyBool_Check(object.ptr()) != 0) return object.ptr() == Py_True;
  if (PyUnicode_Check(object.ptr()) != 0) return as_text(which, object);
  if (PyLong_Check(object.ptr()) != 0) return as_integer(which, object);
  if (PyFloat_Check(object.ptr()) != 0) return PyFloat_AS_DOUBLE(object.ptr());
  const py::object numpy = py::module_::import("numpy");
  const auto is_a = [&](const char* kind) { return py::isinstance(object, numpy.attr(kind)); };
  if (is_a("bool_")) return py::bool_(py::reinterpret_borrow<py::object>(object)).cast<bool>();
  if (is_a("timedelta64")) refuse(which, object);  // an integer to NumPy
  if (is_a("integer"))
    return as_integer(which, py::int_(py::reinterpret_borrow<py::object>(object)));
  if (is_a("floating"))
    return py::float_(py::reinterpret_borrow<py::object>(object)).cast<double>();
  if (is_a("ndarray") && object.attr("ndim").cast<int>() == 0)
    return as_value(which, object[py::tuple()]);
  if (is_a("generic")) refuse(which, object);
  const bool bytes = PyBytes_Check(object.ptr()) != 0 || PyByteArray_Check(object.ptr()) != 0;
  const bool tensor = PySequence_Check(object.ptr()) != 0 || py::hasattr(object, "__array__") ||
                      py::hasattr(object, "__array_interface__") || py::hasattr(object, "tocsr");
  if (bytes || !tensor) refuse(which, object);
  return as_tensor(which, object);
}

/// Whether values can be taken from it in the order in which they are meant. A text is a list of
/// characters, and a bytes one of numbers, which nobody means.
bool is_list(const py::handle& object) {
  const bool text = PyUnicode_Check(object.ptr()) != 0 || PyBytes_Check(object.ptr()) != 0 ||
                    PyByteArray_Check(object.ptr()) != 0;
  const bool unordered = PyDict_Check(object.ptr()) != 0 || PyAnySet_Check(object.ptr()) != 0;
  if (text || unordered) return false;
  const py::object iterator = py::reinterpret_steal<py::object>(PyObject_GetIter(object.ptr()));
  if (!iterator) {
    if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw py::error_already_set();
    PyErr_Clear();
  }
  return static_cast<bool>(iterator);
}

}  // namespace

std::vector<SqlValue> as_values(const py::object& list) {
  std::vector<SqlValue> values;
  if (list.is_none()) return values;
  TESSERA_REQUIRE(TypeError, is_list(list), "values must be a list or a tuple, not {}",
                  type_name(list));
  for (const py::handle& one : list) values.push_back(as_value({values.size() + 1}, one));
  return values;
}

std::vector<SqlValue> as_row(const py::handle& row, std::int64_t number) {
  std::vector<SqlValue> values;
  TESSERA_REQUIRE(TypeError, is_list(row), "row {} must be a list or a tuple of values, not {}",
                  number, type_name(row));
  for (const py::handle& one : row) values.push_back(as_value({values.size() + 1, number}, one));
  return values;
}

}  // namespace tessera::python
