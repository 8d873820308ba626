#include "watched.h"

namespace tessera::python {
namespace {

py::dict description_of(const StoredInfo& info) {
  return py::dict(
      py::arg("name") = info.name, py::arg("type") = to_string(info.type),
      py::arg("shape") = info.shape ? py::object(as_tuple(*info.shape)) : py::object(py::none()),
      py::arg("statistics") = as_dict(info.statistics), py::arg("bytes") = info.bytes);
}

/// A text without a checksum, which may be damaged: what is no UTF-8 is shown as such.
py::str as_text(const std::string& text) {
  return py::reinterpret_steal<py::str>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

/// A statement that Ctrl-C ends, be it that it waits for another one.
template <class Statement>
void stoppable(Statement&& statement) {
  const py::object nobody = py::none();
  Watched<bool, Progress> watched(nobody);
  RunOptions options;
  options.stop = watched.stop();
  (void)watched.result([&] {
    statement(options);
    return true;
  });
}

}  // namespace

void bind_database(py::module_& module) {
  const auto unlocked = py::call_guard<Unlocked>();
  py::class_<Database> type(module, "Database",
                            "A database: a folder that stores relations on disk.");
  type.def(py::init([](const std::filesystem::path& folder, bool create, bool read_only,
                       double lock_seconds, bool compress, const py::object& external_access) {
             const DatabaseOptions options{.create = create,
                                           .read_only = read_only,
                                           .lock_seconds = lock_seconds,
                                           .compress = compress,
                                           .external_access = as_access(external_access)};
             return watched([&] { return Database::open(folder, options); });
           }),
           py::arg("folder"), py::kw_only(), py::arg("create") = true, py::arg("read_only") = false,
           py::arg("lock_seconds") = 10.0, py::arg("compress") = false,
           py::arg("external_access") = "on",
           "Opens the database in a folder. With create=False or read_only=True it must exist.")
      .def_static(
          "temporary",
          [](const py::object& external_access) {
            const ExternalAccess access = as_access(external_access);
            const py::gil_scoped_release free;
            return Database::temporary(access);
          },
          py::kw_only(), py::arg("external_access") = "on",
          "Creates a temporary database. It is deleted when nothing refers to it any more.")
      .def(
          "list",
          [](const Database& database) {
            std::vector<std::string> names;
            for (const StoredInfo& info : database.list()) names.push_back(info.name);
            return names;
          },
          unlocked, "Returns the names of all relations.")
      .def(
          "info",
          [](const Database& database, const std::string& name) {
            const StoredInfo info = [&] {
              const Unlocked free;
              return database.info(name);
            }();
            return description_of(info);
          },
          py::arg("name"),
          "Returns the name, type, shape, statistics and size in bytes of a relation, without "
          "reading "
          "its tiles.")
      .def("plan", &Database::plan, py::arg("name"), unlocked,
           "Returns a plan that reads a relation. Its tiles are read when a run needs them.")
      .def(
          "read",
          [](const Database& database, const std::string& name) {
            return watched([&] { return database.read(name); });
          },
          py::arg("name"), "Reads a whole relation into memory.")
      .def(
          "store",
          [](Database& database, const std::string& name, const Relation& relation) {
            stoppable([&](const RunOptions& options) { database.store(name, relation, options); });
          },
          py::arg("name"), py::arg("relation"), "Stores a relation under a new name, atomically.")
      .def("store", &store_plan, py::arg("name"), py::arg("plan"), py::kw_only(),
           py::arg("allow_holes") = false, py::arg("sites") = 1, py::arg("threads") = 0,
           py::arg("memory_limit") = py::none(), py::arg("temporary_folder") = "",
           py::arg("progress") = py::none(),
           "Runs a plan and stores its result under a new name, atomically. The result is written "
           "while it is computed and need not fit into memory. The options are those of Plan.run. "
           "Returns a dict with the time, flops and bytes of the run.")
      .def(
          "history",
          [](const Database& database) {
            py::list runs;
            for (const PastRun& run : database.history())
              runs.append(py::dict(
                  py::arg("at") = as_text(run.at), py::arg("name") = as_text(run.name),
                  py::arg("plan") = as_text(run.plan), py::arg("seconds") = run.seconds,
                  py::arg("tasks") = run.tasks, py::arg("flops") = run.flops,
                  py::arg("peak_bytes") = run.peak_bytes, py::arg("bytes_read") = run.bytes_read,
                  py::arg("bytes_spilled") = run.bytes_spilled));
            return runs;
          },
          "Returns the plans whose results were stored, the latest first, each as a dict.")
      .def(
          "kernel_rates",
          [](const Database& database) {
            py::dict rates;
            for (const KernelRate& rate : database.kernel_rates())
              rates[as_text(rate.kernel)] =
                  py::dict(py::arg("tasks") = rate.tasks, py::arg("flops") = rate.flops,
                           py::arg("bytes") = rate.bytes, py::arg("seconds") = rate.seconds);
            return rates;
          },
          "Returns, by kernel, the number of tasks and the total flops, bytes and seconds in the "
          "runs "
          "of history().")
      .def(
          "drop",
          [](Database& database, const std::string& name) {
            stoppable([&](const RunOptions& options) { database.drop(name, options); });
          },
          py::arg("name"), "Drops a relation.")
      .def(
          "rename",
          [](Database& database, const std::string& name, const std::string& to) {
            stoppable([&](const RunOptions& options) { database.rename(name, to, options); });
          },
          py::arg("name"), py::arg("to"), "Renames a relation.")
      .def(
          "vacuum", [](Database& database) { return watched([&] { return database.vacuum(); }); },
          "Frees the disk space of dropped data. Returns the number of bytes.")
      .def(
          "checkpoint",
          [](Database& database) { stoppable([&](const RunOptions&) { database.checkpoint(); }); },
          "Removes files that are not used any more and shortens the log of the catalogue. Unlike "
          "vacuum(), it rewrites no tiles.")
      .def(
          "check",
          [](const Database& database) {
            const std::vector<Damage> damage = watched([&] { return database.check(); });
            py::list found;
            for (const Damage& one : damage)
              found.append(py::make_tuple(
                  one.name, one.key ? py::object(as_tuple(*one.key)) : py::object(py::none()),
                  one.reason));
            return found;
          },
          "Verifies all checksums. Returns a list of (name, key, reason), one for each damaged "
          "object.")
      .def_property_readonly(
          "folder", [](const Database& database) { return database.folder().string(); },
          "The path of the folder.")
      .def("__repr__", [](const Database& database) {
        return "Database('" + database.folder().string() + "')";
      });
  bind_files(module, type);
  bind_sql(module, type);
}

}  // namespace tessera::python
