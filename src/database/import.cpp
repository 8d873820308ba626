#include <deque>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/outside.h"
#include "base/stop.h"
#include "database/by_first.h"
#include "database/file_meter.h"
#include "database/names.h"
#include "database/relation_writer.h"
#include "database/snapshot.h"
#include "exec/statement_memory.h"
#include "store/formats/format.h"
#include "tra/tuple_set.h"

namespace tessera {
namespace {

using store::Definition;
using store::Edges;
using store::Entry;

/// The type of a tensor of a shape that was cut into tiles, and of the tiles at its edges.
std::pair<RelationType, Edges> type_of_tensor(const store::TensorHead& head, const Shape& shape) {
  RelationType type{{{"", head.tile}}, Key(shape.rank(), 0), head.presence};
  Shape& bound = type.columns[0].type.shape;
  TESSERA_INVARIANT(bound.rank() == shape.rank(), "tiles of {} in a tensor of {}", to_string(bound),
                    to_string(shape));
  Edges edges{shape};
  for (int d = 0; d < shape.rank(); ++d) {
    TESSERA_INVARIANT(bound[d] > 0 || shape[d] == 0, "tiles of {} in a tensor of {}",
                      to_string(bound), to_string(shape));
    bound[d] = std::min(bound[d], shape[d]);
    // A tensor without elements is one empty tile, so that its shape is not lost.
    type.frontier[d] = shape[d] == 0 ? 1 : (shape[d] - 1) / bound[d] + 1;
    edges.last[d] = shape[d] - (type.frontier[d] - 1) * bound[d];
  }
  return {type, edges};
}

/// What the statement keeps of a file, a tensor after the other or several at once.
class Import : public store::Receiver {
 public:
  Import(WriteStatement& statement, std::string name, FileMeter& meter)
      : statement_(statement), name_(std::move(name)), meter_(meter) {}

  int begin(const store::TensorHead& head) override {
    const std::string name = name_ + head.suffix;
    check_name(name);
    refuse_taken(statement_.catalog(), name);
    for (const ImportedArray& part : parts_)
      TESSERA_REQUIRE(TypeError, part.name != name,
                      "the file has two tensors that would get the name \"{}\"", name);
    parts_.emplace_back(name, head, statement_);
    return static_cast<int>(parts_.size()) - 1;
  }

  void add(int tensor, const Key& key, const Tile& tile) override {
    ImportedArray& part = parts_[static_cast<std::size_t>(tensor)];
    const TileType& type = part.head.tile;
    TESSERA_INVARIANT(tile.dtype() == type.dtype && tile.rank() == type.shape.rank(),
                      "the reader of {} has said {} and gives {}", part.name, to_string(type),
                      to_string(tile.type()));
    part.writer.add(key, {tile});
  }

  void end(int tensor, const std::optional<Shape>& shape) override {
    ImportedArray& part = parts_[static_cast<std::size_t>(tensor)];
    part.definition = shape ? tensor_of(part, *shape) : relation_of(part);
  }

  void advance(std::int64_t bytes, std::int64_t rows) override { meter_.advance(bytes, rows); }

  std::vector<Definition> definitions() const {
    std::vector<Definition> all;
    for (const ImportedArray& part : parts_) {
      TESSERA_INVARIANT(part.definition, "the reader has not ended {}", part.name);
      all.push_back(*part.definition);
    }
    return all;
  }

 private:
  struct ImportedArray {
    ImportedArray(std::string its_name, store::TensorHead its_head, WriteStatement& statement)
        : name(std::move(its_name)), head(std::move(its_head)), writer(statement.appender()) {}
    std::string name;
    store::TensorHead head;
    RelationWriter writer;
    std::optional<Definition> definition;
  };

  static Definition tensor_of(ImportedArray& part, const Shape& shape) {
    const auto [type, edges] = type_of_tensor(part.head, shape);
    const TypesAt expected = store::absent_types_of(type, edges);
    for (const Entry& entry : part.writer.entries()) {
      bool below = entry.key.size() == type.frontier.size();
      for (std::size_t i = 0; below && i < entry.key.size(); ++i)
        below = entry.key[i] >= 0 && entry.key[i] < type.frontier[i];
      TESSERA_INVARIANT(below && entry.types[0].shape == expected(entry.key)[0].shape,
                        "the reader of {} gives {} at {} of a tensor of {}", part.name,
                        to_string(entry.types[0]), to_string(entry.key), to_string(shape));
    }
    TESSERA_INVARIANT(type.presence != Presence::continuous ||
                          std::cmp_equal(part.writer.entries().size(), count_below(type.frontier)),
                      "the reader of {} gives {} tiles of {}", part.name,
                      part.writer.entries().size(), count_below(type.frontier));
    return part.writer.finish(part.name, type, {edges});
  }

  static Definition relation_of(ImportedArray& part) {
    const std::vector<Entry>& entries = part.writer.entries();
    TESSERA_REQUIRE(IoError, !entries.empty(), "cannot import \"{}\": the file has no entries",
                    part.name);
    RelationType type{{{"", part.head.tile}}, Key(entries[0].key.size(), 0), part.head.presence};
    type.columns[0].type = entries[0].types[0];
    TileType& bound = type.columns[0].type;
    std::vector<BasicTuple<TileType>> tuples;
    for (const Entry& entry : entries) {
      if (entry.types[0].sparse_dims != bound.sparse_dims) bound.sparse_dims = 0;
      for (int d = 0; d < bound.shape.rank(); ++d)
        bound.shape[d] = std::max(bound.shape[d], entry.types[0].shape[d]);
      tuples.push_back({entry.key, entry.types});
    }
    type.frontier = frontier_of(tuples, type.arity());
    const auto hole = first_hole(tuples, type.frontier);
    if (type.presence == Presence::partial && !hole) type.presence = Presence::continuous;
    if (type.presence == Presence::continuous && hole)
      throw PlanError(fmt::format("{}: key {} below the frontier {} is missing", part.name,
                                  to_string(*hole), to_string(type.frontier)));
    return part.writer.finish(part.name, type, {});
  }

  WriteStatement& statement_;
  const std::string name_;
  FileMeter& meter_;
  std::deque<ImportedArray> parts_;  // which do not move
};

/// What one process does, or does for all of a cluster.
FileReport import_alone(WriteStatement& statement, const std::string& name, const std::string& from,
                        const FormatOptions& options, const store::Format& format) {
  if (!format.has_files) require_servers(options.external_access);
  const InputFile input =
      format.has_files ? input_file(from, options.external_access) : InputFile{from, from};
  std::error_code none;
  const auto length = std::filesystem::file_size(input.path, none);
  const std::int64_t bytes = none ? 0 : static_cast<std::int64_t>(length);
  refuse_taken(statement.catalog(), name);
  FileMeter meter(options, bytes);
  Import import(statement, name, meter);
  try {
    format.read(input, options, import);
  } catch (const Interrupted&) {
    meter.look_for_stop();  // which says how far it came
    throw;
  }
  const std::vector<Definition> definitions = import.definitions();
  const FileProgress done = meter.finish();
  statement.commit([&](store::Catalog& catalog) {
    for (const Definition& definition : definitions) catalog.add(definition);
    meter.look_for_stop();
  });
  FileReport report{{}, {}, done.rows, bytes, meter.seconds()};
  for (const Definition& definition : definitions) {
    report.names.push_back(definition.name);
    report.imported.push_back(info_of(definition));
  }
  return report;
}

}  // namespace

FileReport Database::import_file(const std::string& name, const std::string& from,
                                 const FormatOptions& asked) {
  using nlohmann::json;
  const RunOptions running = state_->filled_in();
  const exec::StatementMemory memory(exec::memory_limit_of(running));
  FormatOptions options = asked;
  options.memory = std::min(options.memory, MemoryAccount::current()->limit() / 2);
  const StopScope stop_scope(options.stop);
  check_name(name);
  state_->refuse_if_read_only();
  std::optional<FileReport> report;
  store::check_limits(options);
  const store::Format& format = store::find_format(from, options.format);
  TESSERA_REQUIRE(TypeError, format.read != nullptr,
                  "files of format {} can be exported, but not imported", format.info.name);
  // What is no file may have a password in its name, which no message shows.
  const std::string source =
      format.has_files ? from
                       : fmt::format("{} {:x}", format.info.name, std::hash<std::string>()(from));
  const std::string what =
      fmt::format("import {} as \"{}\" in {}", source, name, folder().string());
  const std::string told = by_first(*running.engine, what, [&] {
    WriteStatement statement = state_->writer(1, options.stop);
    FormatOptions allowed = options;
    allowed.external_access = external_access().and_only(options.external_access);
    report = import_alone(statement, name, from, allowed, format);
    return json{report->names, report->rows, report->bytes, report->seconds}.dump(
        -1, ' ', false, json::error_handler_t::replace);
  });
  if (report) return *report;
  const json of_first = json::parse(told);
  FileReport of_all{of_first.at(0), {}, of_first.at(1), of_first.at(2), of_first.at(3)};
  for (const std::string& imported : of_all.names) of_all.imported.push_back(info(imported));
  return of_all;
}

}  // namespace tessera
