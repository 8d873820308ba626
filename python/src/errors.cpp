#include <map>

#include "bindings.h"

namespace tessera::python {

namespace {

/// The whole message, which may quote text that holds a zero byte or is no valid UTF-8.
py::object message_text(const std::string& message) {
  return py::reinterpret_steal<py::object>(PyUnicode_DecodeUTF8(
      message.data(), static_cast<py::ssize_t>(message.size()), "backslashreplace"));
}

void raise(PyObject* kind, const std::string& message) {
  PyErr_SetObject(kind, message_text(message).ptr());
}

void raise(PyObject* kind, const ShownStatementError& error) {
  const std::string text = error.shown.substr(0, error.shown.find_last_not_of('\n') + 1);
  const py::object made = py::reinterpret_borrow<py::object>(kind)(message_text(text));
  made.attr("kind") = error.kind();
  made.attr("line") = error.line;
  made.attr("column") = error.column;
  PyErr_SetObject(kind, made.ptr());
}

}  // namespace

/// Our errors keep their kinds; those that Python has a name for are also of that class, so that
/// `except MemoryError` and `except TypeError` work as a Python user expects.
void bind_errors(py::module_& module) {
  static py::exception<Error> base(module, "Error", PyExc_Exception);
  const auto kind = [&](const char* name, PyObject* also) {
    const py::tuple bases = py::make_tuple(base, py::reinterpret_borrow<py::object>(also));
    const std::string qualified = std::string("tessera.") + name;
    auto* made = PyErr_NewException(qualified.c_str(), bases.ptr(), nullptr);
    module.attr(name) = py::reinterpret_borrow<py::object>(made);
    return made;  // kept for the life of the process, like any class
  };
  static PyObject* parse = kind("ParseError", PyExc_ValueError);
  static PyObject* type = kind("TypeError", PyExc_TypeError);
  static PyObject* plan = kind("PlanError", PyExc_ValueError);
  static PyObject* value = kind("ValueError", PyExc_ValueError);
  static PyObject* io = kind("IoError", PyExc_OSError);
  static PyObject* memory = kind("OutOfMemory", PyExc_MemoryError);
  static PyObject* interrupted = kind("Interrupted", PyExc_RuntimeError);
  static PyObject* cluster = kind("ClusterError", PyExc_RuntimeError);
  static PyObject* internal = kind("InternalError", PyExc_RuntimeError);

  // An error in a statement is a StatementError and also of its own kind: either can be caught.
  static py::exception<StatementError> in_statement(module, "StatementError", base);
  in_statement.doc() =
      "An error in an SQL statement. It has the attributes kind, line and column (from 1).";
  static std::map<std::string, PyObject*> by_kind;
  for (PyObject* one : {parse, type, plan, value, io, memory, interrupted, cluster, internal}) {
    const py::object also = py::reinterpret_borrow<py::object>(one);
    const py::tuple bases = py::make_tuple(in_statement, also);
    by_kind[also.attr("__name__").cast<std::string>()] =
        PyErr_NewException("tessera.StatementError", bases.ptr(), nullptr);
  }

  py::register_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const ShownStatementError& error) {
      const auto known = by_kind.find(error.kind());
      raise(known == by_kind.end() ? by_kind.at("InternalError") : known->second, error);
    } catch (const ParseError& error) {
      raise(parse, error.what());
    } catch (const TypeError& error) {
      raise(type, error.what());
    } catch (const PlanError& error) {
      raise(plan, error.what());
    } catch (const ValueError& error) {
      raise(value, error.what());
    } catch (const IoError& error) {
      raise(io, error.what());
    } catch (const OutOfMemory& error) {
      raise(memory, error.what());
    } catch (const Interrupted& error) {
      raise(interrupted, error.what());
    } catch (const ClusterError& error) {
      raise(cluster, error.what());
    } catch (const Error& error) {
      raise(internal, error.what());
    } catch (const py::cast_error& error) {
      raise(type, std::string("invalid argument type: ") + error.what());
    } catch (const std::bad_alloc&) {
      raise(memory, "out of memory");
    } catch (const std::length_error&) {
      raise(memory, "out of memory: too many elements");
    }
  });
}

}  // namespace tessera::python
