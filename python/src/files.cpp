#include "watched.h"

// Files in other formats, read into a database and written from it.

namespace tessera::python {
namespace {

std::optional<Shape> as_extents(const py::object& extents) {
  if (extents.is_none()) return std::nullopt;
  if (py::isinstance<py::int_>(extents)) return Shape{extents.cast<std::int64_t>()};
  return as_inline<Shape>(extents.cast<std::vector<std::int64_t>>());
}

FormatOptions options_of(const std::string& format, const py::object& tile, const py::object& dtype,
                         const py::object& shape, const std::string& member, bool column_major,
                         const std::string& delimiter, const std::optional<bool>& header,
                         const std::optional<double>& missing, const std::optional<int>& index_base,
                         const std::string& query, bool tile_a_row, bool external_files,
                         int threads, std::int64_t memory, double progress_seconds) {
  if (delimiter.size() > 1) throw TypeError("the delimiter must be a single character");
  FormatOptions options;
  options.format = format;
  options.tile = as_extents(tile);
  if (!dtype.is_none()) options.dtype = parse_dtype(py::str(dtype).cast<std::string>());
  options.shape = as_extents(shape);
  options.member = member;
  options.column_major = column_major;
  options.delimiter = delimiter.empty() ? '\0' : delimiter[0];
  options.header = header;
  options.missing = missing;
  options.index_base = index_base;
  options.query = query;
  options.tile_a_row = tile_a_row;
  options.external_files = external_files;
  options.threads = threads;
  options.memory = memory;
  options.progress_seconds = progress_seconds;
  return options;
}

py::dict as_dict(const FileReport& report) {
  return py::dict(py::arg("names") = report.names, py::arg("rows") = report.rows,
                  py::arg("bytes") = report.bytes, py::arg("seconds") = report.seconds);
}

template <class Work>
py::dict watch(FormatOptions& options, const py::object& progress, Work&& work) {
  Watched<FileReport, FileProgress> watched(progress);
  options.stop = watched.stop();
  options.progress = watched.listener();
  return as_dict(watched.result(work));
}

}  // namespace

ExternalAccess as_access(const py::object& external_access) {
  std::vector<std::filesystem::path> folders;
  if (py::isinstance<py::str>(external_access)) {
    const auto word = external_access.cast<std::string>();
    if (word == "on") return ExternalAccess::on();
    if (word == "off") return ExternalAccess::off();
  }
  if (py::isinstance<py::list>(external_access) || py::isinstance<py::tuple>(external_access)) {
    for (const py::handle& folder : external_access)
      folders.push_back(folder.cast<std::filesystem::path>());
    return ExternalAccess::only(folders);
  }
  try {
    return ExternalAccess::only({external_access.cast<std::filesystem::path>()});
  } catch (const py::cast_error&) {
    throw TypeError("external_access must be \"on\", \"off\" or a list of folders");
  }
}

void bind_files(py::module_& module, py::class_<Database>& database) {
  py::class_<FileProgress>(module, "FileProgress", "The progress of an import or export.")
      .def_readonly("bytes_done", &FileProgress::bytes_done, "Bytes that were read or written.")
      .def_readonly("bytes", &FileProgress::bytes, "All bytes of the file; 0 if unknown.")
      .def_readonly("rows", &FileProgress::rows, "Rows that were read or written.")
      .def_readonly("seconds", &FileProgress::seconds, "Seconds since the begin.")
      .def_readonly("fraction", &FileProgress::fraction, "The part that is done, 0 to 1.");
  module.def(
      "formats",
      [] {
        py::dict all;
        for (const FormatInfo& info : formats())
          all[py::str(info.name)] = py::dict(py::arg("description") = info.description,
                                             py::arg("endings") = info.endings);
        return all;
      },
      "Returns the file formats: a dict from names to descriptions and file name endings.");
  const auto none = py::none();
  database
      .def(
          "import_file",
          [](Database& self, const std::string& name, const py::object& path,
             const std::string& format, const py::object& tile, const py::object& dtype,
             const py::object& shape, const std::string& member, bool column_major,
             const std::string& delimiter, const std::optional<bool>& header,
             const std::optional<double>& missing, const std::optional<int>& index_base,
             const std::string& query, bool tile_a_row, bool external_files, int threads,
             std::int64_t memory, const py::object& progress, double progress_seconds) {
            FormatOptions options = options_of(
                format, tile, dtype, shape, member, column_major, delimiter, header, missing,
                index_base, query, tile_a_row, external_files, threads, memory, progress_seconds);
            const auto from = py::str(path).cast<std::string>();
            return watch(options, progress, std::function<FileReport()>([&] {
                           return self.import_file(name, from, options);
                         }));
          },
          py::arg("name"), py::arg("path"), py::kw_only(), py::arg("format") = "",
          py::arg("tile") = none, py::arg("dtype") = none, py::arg("shape") = none,
          py::arg("member") = "", py::arg("column_major") = false, py::arg("delimiter") = "",
          py::arg("header") = none, py::arg("missing") = none, py::arg("index_base") = none,
          py::arg("query") = "", py::arg("tile_a_row") = false, py::arg("external_files") = false,
          py::arg("threads") = 0, py::arg("memory") = FormatOptions().memory,
          py::arg("progress") = none, py::arg("progress_seconds") = 0.1,
          "Imports a file under a new name, atomically. Returns a dict with the names of the new "
          "tensors, the rows, bytes and seconds.")
      .def(
          "export_file",
          [](const Database& self, const py::object& name, const py::object& path,
             const std::string& format, const std::string& member, bool column_major,
             const std::string& delimiter, const std::optional<bool>& header,
             const std::optional<int>& index_base, bool tile_a_row, int threads,
             std::int64_t memory, const py::object& progress, double progress_seconds) {
            FormatOptions options = options_of(
                format, py::none(), py::none(), py::none(), member, column_major, delimiter, header,
                std::nullopt, index_base, "", tile_a_row, false, threads, memory, progress_seconds);
            const auto names = py::isinstance<py::str>(name)
                                   ? std::vector<std::string>{name.cast<std::string>()}
                                   : name.cast<std::vector<std::string>>();
            const auto to = py::str(path).cast<std::string>();
            return watch(options, progress, std::function<FileReport()>([&] {
                           return self.export_file(names, to, options);
                         }));
          },
          py::arg("name"), py::arg("path"), py::kw_only(), py::arg("format") = "",
          py::arg("member") = "", py::arg("column_major") = false, py::arg("delimiter") = "",
          py::arg("header") = none, py::arg("index_base") = none, py::arg("tile_a_row") = false,
          py::arg("threads") = 0, py::arg("memory") = FormatOptions().memory,
          py::arg("progress") = none, py::arg("progress_seconds") = 0.1,
          "Writes a tensor, or a list of tensors, to a file. An existing file is replaced. Returns "
          "a "
          "dict with the names, rows, bytes and seconds.");
}

}  // namespace tessera::python
