#include <atomic>
#include <deque>

#include "base/bytes.h"
#include "base/check.h"
#include "base/outside.h"
#include "base/stop.h"
#include "database/file_meter.h"
#include "database/replacement.h"
#include "database/state.h"
#include "database/write_through.h"
#include "exec/statement_memory.h"
#include "store/formats/format.h"

namespace tessera {
namespace {

using store::Entry;
using store::StoredRelation;

/// A stored tensor, read tile by tile.
class Export : public store::TensorReader {
 public:
  Export(std::shared_ptr<const StoredRelation> stored, FileMeter& meter,
         std::atomic<std::int64_t>& read, std::int64_t all)
      : stored_(std::move(stored)), meter_(meter), read_(read), all_(all) {
    const store::Definition& definition = stored_->definition();
    TESSERA_REQUIRE(TypeError, definition.type.columns.size() == 1,
                    "cannot export \"{}\": it has {} columns, and only relations with one column "
                    "can be exported",
                    definition.name, definition.type.columns.size());
    const auto& edges = definition.extents.edges;
    if (edges) shape_ = store::tensor_shape(definition.type, *edges);
  }

  const std::string& name() const override { return stored_->definition().name; }
  const RelationType& type() const override { return stored_->definition().type; }
  const std::optional<Shape>& shape() const override { return shape_; }

  std::vector<Key> keys() const override {
    std::vector<Key> all;
    for (const Entry& entry : stored_->entries()) all.push_back(entry.key);
    return all;
  }

  Tile read(const Key& key) const override {
    meter_.look_for_stop();
    const Entry* entry = stored_->find(key);
    if (entry == nullptr) {
      TESSERA_REQUIRE(TypeError, type().presence == Presence::sparse,
                      "\"{}\" has no tuple with key {}", name(), to_string(key));
      return Tile::zeros(stored_->tuples()->absent_types(key)[0]);
    }
    Tile tile = stored_->read(*entry)[0];
    read_ += entry->address.range.bytes;
    meter_.set_fraction(static_cast<double>(read_) / static_cast<double>(all_));
    return tile;
  }

  void require_room(double bytes) const override {
    const std::int64_t limit = MemoryAccount::current()->limit();
    TESSERA_REQUIRE(
        OutOfMemory, bytes <= static_cast<double>(limit),
        "cannot export \"{}\": with its zeros it needs {:.3g} GB of memory, and the limit is {}; "
        "use a sparse format (mtx, triples) or smaller tiles, or raise memory_limit",
        name(), bytes / 1e9, bytes_text(limit));
  }

  void advance(std::int64_t bytes, std::int64_t rows) override { meter_.advance(bytes, rows); }
  void finish() override { (void)meter_.finish(); }

 private:
  const std::shared_ptr<const StoredRelation> stored_;
  FileMeter& meter_;
  std::atomic<std::int64_t>& read_;  // bytes, of all tensors
  const std::int64_t all_;
  std::optional<Shape> shape_;
};

}  // namespace

FileReport Database::export_file(const std::vector<std::string>& names, const std::string& to,
                                 const FormatOptions& asked) const {
  const exec::StatementMemory memory(exec::memory_limit_of(state_->filled_in()));
  FormatOptions options = asked;
  options.memory = std::min(options.memory, MemoryAccount::current()->limit() / 2);
  const StopScope stop_scope(options.stop);
  store::check_limits(options);
  TESSERA_REQUIRE(TypeError, !names.empty(), "cannot export to {}: no tensor is given", to);
  // An open descriptor has no name that could tell: it gets text.
  const bool named = !options.format.empty() || !descriptor_of(to);
  const store::Format& format = store::find_format(to, named ? options.format : "csv");
  TESSERA_REQUIRE(TypeError, format.write != nullptr,
                  "files of format {} can be imported, but not exported", format.info.name);
  std::vector<std::shared_ptr<const StoredRelation>> stored;
  std::int64_t all = 1;
  for (const std::string& name : names) {
    stored.push_back(state_->stored(name));
    all += stored.back()->definition().bytes;
  }
  FileMeter meter(options, 0);
  std::atomic<std::int64_t> read = 0;
  std::deque<Export> exports;
  std::vector<store::TensorReader*> readers;
  for (const auto& one : stored) readers.push_back(&exports.emplace_back(one, meter, read, all));
  std::int64_t bytes = 0;
  const ExternalAccess access = external_access().and_only(options.external_access);
  if (format.has_files) {
    Replacement file(to, access, options.stop);
    try {
      format.write(readers, file.output(), options);
    } catch (const Interrupted&) {
      meter.look_for_stop();  // which says how far it came
      throw;
    }
    (void)meter.finish();
    bytes = file.keep();
  } else {
    require_servers(access);
    format.write(readers, {to}, options);
  }
  return {names, {}, meter.rows(), bytes, meter.seconds()};
}

}  // namespace tessera
