#include "tessera/database.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "database/relation_writer.h"
#include "store/stored_relation.h"

namespace tessera {

using store::Catalog;
using store::Definition;
using store::Directory;
using store::Entry;
using store::StoredRelation;

struct Database::State {
  std::filesystem::path folder;
  DatabaseOptions options;

  store::Compression compression() const {
    return options.compress ? store::Compression::zstd : store::Compression::none;
  }
  Catalog reader() const {
    return {folder, options.read_only ? Catalog::Mode::read : Catalog::Mode::write};
  }
  WriteStatement writer() const {
    TESSERA_REQUIRE(IoError, !options.read_only, "{} is open for reading only", folder.string());
    return {folder, options.lock_seconds, compression()};
  }

  Definition find(Catalog& catalog, const std::string& name) const {
    std::optional<Definition> found = catalog.find(name);
    if (found) return std::move(*found);
    std::string others;
    for (const Definition& other : catalog.all())
      others += (others.empty() ? "" : ", ") + other.name;
    throw TypeError(fmt::format("there is no '{}' in {}; there is {}", name, folder.string(),
                                others.empty() ? "nothing" : others));
  }

  /// The relation as it is now. A vacuum may move it between the look at the catalogue and the
  /// opening of its files: then the catalogue says where it is.
  std::shared_ptr<const StoredRelation> stored(const std::string& name) const {
    Catalog catalog = reader();
    Definition definition = find(catalog, name);
    for (;;) {
      try {
        return std::make_shared<const StoredRelation>(folder, definition);
      } catch (const IoError&) {
        Definition now = find(catalog, name);
        if (now.directories == definition.directories) throw;
        definition = std::move(now);
      }
    }
  }
};

namespace {

void check_name(const std::string& name) {
  TESSERA_REQUIRE(TypeError, !name.empty() && name.size() <= 255,
                  "a name has 1 to 255 bytes, '{}' has {}", name.substr(0, 40), name.size());
  for (const char letter : name)
    TESSERA_REQUIRE(TypeError, static_cast<unsigned char>(letter) >= ' ' && letter != 127,
                    "a name has no control characters");
}

void refuse_taken(Catalog& catalog, const std::string& name) {
  TESSERA_REQUIRE(TypeError, !catalog.find(name), "there is a '{}' already; drop it first", name);
}

StoredInfo info_of(const Definition& definition) {
  StoredInfo info{definition.name, definition.type, std::nullopt, definition.statistics,
                  definition.bytes};
  if (definition.edges) info.shape = tensor_shape(definition.type, *definition.edges);
  return info;
}

}  // namespace

Database Database::open(const std::filesystem::path& folder, const DatabaseOptions& options) {
  auto state = std::make_shared<State>(State{folder, options});
  if (!std::filesystem::exists(folder / "catalog.sqlite")) {
    TESSERA_REQUIRE(IoError, options.create && !options.read_only, "there is no database {}",
                    folder.string());
    std::error_code error;
    const bool empty =
        !std::filesystem::exists(folder, error) ||
        (std::filesystem::is_directory(folder, error) && std::filesystem::is_empty(folder, error));
    // A crash while a database is being made leaves a folder of segments without a catalogue.
    const bool begun = std::filesystem::is_directory(folder / "segments", error);
    TESSERA_REQUIRE(IoError, empty || begun,
                    "{} is not a Tessera database, and is not empty: choose another name",
                    folder.string());
    std::filesystem::create_directories(folder / "segments", error);
    TESSERA_REQUIRE(IoError, !error, "cannot make {}: {}", folder.string(), error.message());
    const WriteLock lock(folder, options.lock_seconds);
    Catalog::create(folder);
    sync_folder(folder);
  }
  (void)state->reader();  // says what is wrong with it, if anything is
  return Database(std::move(state));
}

const std::filesystem::path& Database::folder() const { return state_->folder; }

std::vector<StoredInfo> Database::list() const {
  std::vector<StoredInfo> result;
  for (const Definition& definition : state_->reader().all()) result.push_back(info_of(definition));
  return result;
}

StoredInfo Database::info(const std::string& name) const {
  Catalog catalog = state_->reader();
  return info_of(state_->find(catalog, name));
}

Plan Database::plan(const std::string& name) const {
  const std::shared_ptr<const StoredRelation> stored = state_->stored(name);
  return Plan::input(
      stored->tuples(), [stored](const Key& key) { return stored->read(key); }, name);
}

Relation Database::read(const std::string& name) const {
  const std::shared_ptr<const StoredRelation> stored = state_->stored(name);
  std::vector<Tuple> tuples;
  for (const Entry& entry : stored->entries()) tuples.push_back({entry.key, stored->read(entry)});
  return Relation::assemble(stored->definition().type, std::move(tuples),
                            stored->tuples()->absent_types);
}

void Database::store(const std::string& name, const Relation& relation) {
  check_name(name);
  WriteStatement statement = state_->writer();
  refuse_taken(statement.catalog(), name);
  RelationWriter writer(statement);
  for (const Tuple& tuple : relation.tuples()) writer.add(tuple.key, tuple.tiles);
  const Definition definition = writer.finish(name, relation.type(), relation.absent_types());
  statement.commit([&](Catalog& catalog) { catalog.add(definition); });
}

void Database::store(const std::string& name, const Plan& plan, const RunOptions& options,
                     RunReport* report) {
  check_name(name);
  WriteStatement statement = state_->writer();
  refuse_taken(statement.catalog(), name);  // before anything is computed in vain
  RelationWriter writer(statement);
  const std::vector<TupleSet<TileType>> results = run_into(
      {plan},
      [&](std::size_t, const Key& key, const std::vector<Tile>& tiles) { writer.add(key, tiles); },
      options, report);
  const Definition definition =
      writer.finish(name, results.front().type, results.front().absent_types);
  statement.commit([&](Catalog& catalog) { catalog.add(definition); });
}

void Database::drop(const std::string& name) {
  WriteStatement statement = state_->writer();
  (void)state_->find(statement.catalog(), name);
  statement.commit([&](Catalog& catalog) { catalog.remove(name); });
}

void Database::rename(const std::string& from, const std::string& to) {
  check_name(to);
  WriteStatement statement = state_->writer();
  (void)state_->find(statement.catalog(), from);
  refuse_taken(statement.catalog(), to);
  statement.commit([&](Catalog& catalog) { catalog.rename(from, to); });
}

/// A segment of which nothing is used goes at once. One of which much is not is left behind by
/// writing what is used to the end of the database again.
std::int64_t Database::vacuum() {
  constexpr double worth_keeping = 0.9;  // of a segment's bytes
  WriteStatement statement = state_->writer();
  Catalog& catalog = statement.catalog();
  std::map<std::int64_t, std::int64_t> used;
  std::vector<std::shared_ptr<const StoredRelation>> all;
  for (const Definition& definition : catalog.all()) {
    all.push_back(std::make_shared<const StoredRelation>(state_->folder, definition));
    for (const store::Address& part : definition.directories)
      used[part.segment] += part.place.bytes;
    for (const Entry& entry : all.back()->entries())
      used[entry.address.segment] += entry.address.place.bytes;
  }
  std::set<std::int64_t> leaving;
  std::int64_t before = 0;
  for (const auto& [segment, bytes] : catalog.segments()) {
    before += bytes;
    if (static_cast<double>(used[segment]) < worth_keeping * static_cast<double>(bytes))
      leaving.insert(segment);
  }
  if (leaving.empty()) {
    catalog.checkpoint();
    return 0;
  }
  statement.start_new_segment();
  std::map<std::string, std::pair<std::vector<store::Address>, std::int64_t>> moved;
  for (const auto& stored : all) {
    const Definition& definition = stored->definition();
    bool stays = true;
    for (const store::Address& part : definition.directories)
      stays = stays && !leaving.contains(part.segment);
    Directory directory{stored->entries()};
    for (Entry& entry : directory.entries) {
      if (!leaving.contains(entry.address.segment)) continue;
      entry = statement.append(entry.key, stored->read(entry));
      stays = false;
    }
    if (!stays)
      moved[definition.name] = {{statement.append(directory)}, store::bytes_in(directory)};
  }
  statement.commit([&](Catalog& changed) {
    for (const auto& [name, to] : moved) changed.move(name, to.first, to.second);
    for (const std::int64_t segment : leaving) changed.forget_segment(segment);
  });
  for (const std::int64_t segment : leaving)
    std::filesystem::remove(store::segment_path(state_->folder, segment));
  catalog.checkpoint();
  std::int64_t after = 0;
  for (const auto& [segment, bytes] : catalog.segments()) after += bytes;
  return before - after;
}

std::vector<Damage> Database::check() const {
  std::vector<Damage> found;
  Catalog catalog = state_->reader();
  const std::string said = catalog.self_check();
  if (said != "ok") found.push_back({"", std::nullopt, "the catalogue: " + said});
  for (const Definition& definition : catalog.all()) {
    std::shared_ptr<const StoredRelation> stored;
    try {
      stored = state_->stored(definition.name);
    } catch (const TypeError&) {
      continue;  // dropped meanwhile
    } catch (const Error& error) {
      found.push_back({definition.name, std::nullopt, error.what()});
      continue;
    }
    for (const Entry& entry : stored->entries()) {
      try {
        (void)stored->read(entry);
      } catch (const Error& error) {
        found.push_back({definition.name, entry.key, error.what()});
      }
    }
  }
  return found;
}

}  // namespace tessera
