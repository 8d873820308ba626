#include "sql_result.h"

#include <sstream>

#include "base/check.h"
#include "base/names_text.h"
#include "display/table_format.h"

namespace tessera::python {
namespace {

constexpr std::int64_t shown_rows = 20;

const ResultTable& table_of(const StatementResult& result) {
  TESSERA_REQUIRE(TypeError, result.table, "{} returned no rows, only a message: {}",
                  result.command, result.message);
  return *result.table;
}

std::int64_t row_count(const StatementResult& result) {
  return result.table ? result.table->rows() : 0;
}

struct ObjectOf {
  py::object operator()(std::monostate) const { return py::none(); }
  py::object operator()(const Tile& tile) const {
    return tile.is_sparse() ? py::cast(tile) : py::object(tile_to_numpy(tile));
  }
  py::object operator()(const std::string& text) const {
    return py::reinterpret_steal<py::object>(PyUnicode_DecodeUTF8(
        text.data(), static_cast<py::ssize_t>(text.size()), "backslashreplace"));
  }
  py::object operator()(const auto& number) const { return py::cast(number); }
};

/// Dense tensors are NumPy arrays; sparse ones stay tiles, which SciPy can take from there.
py::object as_object(const SqlValue& value) { return std::visit(ObjectOf{}, value); }

py::tuple row_of(const ResultTable& table, std::int64_t row) {
  py::tuple values(table.columns().size());
  for (std::size_t c = 0; c < values.size(); ++c)
    values[c] = as_object(table.at(row, static_cast<int>(c)));
  return values;
}

int column_number(const ResultTable& table, const py::object& which) {
  const auto& columns = table.columns();
  if (!py::isinstance<py::str>(which)) {
    const auto number = which.cast<std::int64_t>();
    const std::int64_t counted = number < 0 ? number + std::ssize(columns) : number;
    if (counted < 0 || counted >= std::ssize(columns))
      throw py::index_error("column " + std::to_string(number) +
                            " is out of range; the result has " + std::to_string(columns.size()));
    return static_cast<int>(counted);
  }
  const auto name = which.cast<std::string>();
  std::vector<std::string> names;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (columns[c].name == name) return static_cast<int>(c);
    names.push_back(columns[c].name);
  }
  throw py::key_error("column \"" + name + "\" not found; " + instead_of(name, names));
}

/// Numbers and truth values as an array of their type; texts, tensors, and whatever has a NULL
/// among it, as an array of objects.
py::array column(const StatementResult& result, const py::object& which) {
  const ResultTable& table = table_of(result);
  const int number = column_number(table, which);
  const std::string& type = table.columns()[static_cast<std::size_t>(number)].type;
  py::list values;
  bool has_null = false;
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    values.append(as_object(table.at(row, number)));
    has_null = has_null || values[values.size() - 1].is_none();
  }
  const py::object numpy = py::module_::import("numpy");
  const char* dtype = type == "INT" || type == "BIGINT" ? "int64"
                      : type == "DOUBLE"                ? "float64"
                      : type == "FLOAT"                 ? "float32"
                      : type == "BOOLEAN"               ? "bool"
                                                        : nullptr;
  if (dtype != nullptr && !has_null) return numpy.attr("array")(values, dtype).cast<py::array>();
  // Cell by cell: of a list of arrays NumPy would make one array.
  py::object objects = numpy.attr("empty")(values.size(), "object");
  for (std::size_t i = 0; i < values.size(); ++i) objects[py::int_(i)] = values[i];
  return objects.cast<py::array>();
}

std::string shown(const StatementResult& result) {
  if (!result.table) return result.message;
  const auto size = py::module_::import("shutil").attr("get_terminal_size")();
  std::ostringstream out;
  display::write_table(
      out, *result.table,
      {.width = size.attr("columns").cast<int>(), .max_rows = shown_rows, .colour = false});
  std::string text = out.str();
  text.pop_back();  // the end of the last line
  return text;
}

py::object item(const StatementResult& result, const py::object& key) {
  const ResultTable& table = table_of(result);
  if (!py::isinstance<py::slice>(key)) {
    const auto number = key.cast<std::int64_t>();
    const std::int64_t row = number < 0 ? number + table.rows() : number;
    if (row < 0 || row >= table.rows())
      throw py::index_error("row " + std::to_string(number) + " is out of range; the result has " +
                            std::to_string(table.rows()));
    return row_of(table, row);
  }
  py::list rows;
  const auto range = py::module_::import("builtins").attr("range")(table.rows());
  for (const py::handle& row : range[key]) rows.append(row_of(table, row.cast<std::int64_t>()));
  return rows;
}

/// The rows one after the other: tensors are read when their row comes.
struct RowIterator {
  ResultTable table;
  std::int64_t next = 0;
};

}  // namespace

void bind_results(py::module_& module) {
  py::class_<RowIterator>(module, "_Rows")
      .def("__iter__", [](const py::object& self) { return self; })
      .def("__next__", [](RowIterator& self) {
        if (self.next >= self.table.rows()) throw py::stop_iteration();
        return row_of(self.table, self.next++);
      });
  py::class_<StatementResult>(module, "Result",
                              "The result of an SQL statement: rows or a message.")
      .def_property_readonly(
          "columns",
          [](const StatementResult& result) {
            std::vector<std::string> names;
            if (result.table)
              for (const ResultColumn& one : result.table->columns()) names.push_back(one.name);
            return names;
          },
          "The names of the columns; empty if the statement returns no rows.")
      .def_property_readonly(
          "types",
          [](const StatementResult& result) {
            std::vector<std::string> types;
            if (result.table)
              for (const ResultColumn& one : result.table->columns()) types.push_back(one.type);
            return types;
          },
          "The SQL types of the columns, such as 'BIGINT' or 'MATRIX[2][3]'.")
      .def_readonly("command", &StatementResult::command,
                    "The kind of statement, such as 'SELECT' or 'CREATE TABLE'.")
      .def_readonly("message", &StatementResult::message,
                    "The message of a statement that returns no rows.")
      .def_readonly("seconds", &StatementResult::seconds, "How long the statement took.")
      .def("__len__", &row_count)
      .def("__bool__", [](const StatementResult&) { return true; })
      .def("__iter__", [](const StatementResult& result) { return RowIterator{table_of(result)}; })
      .def("__getitem__", &item, "Returns a row as a tuple; for a slice, a list of rows.")
      .def(
          "fetchall",
          [](const StatementResult& result) {
            py::list rows;
            for (std::int64_t row = 0; row < row_count(result); ++row)
              rows.append(row_of(*result.table, row));
            return rows;
          },
          "Returns all rows as a list of tuples.")
      .def("column", &column, py::arg("name"),
           "Returns a column, by its name or index, as a NumPy array. The dtype is object for "
           "texts, "
           "tensors and columns with NULL.")
      .def("__str__", &shown)
      .def("__repr__", &shown);
}

}  // namespace tessera::python
