#include "tessera/database.h"

#include <algorithm>

#include "base/check.h"
#include "database/damage.h"
#include "database/leftovers.h"
#include "database/names.h"
#include "database/new_database.h"
#include "database/reclaim.h"
#include "database/state.h"
#include "database/together.h"

namespace tessera {

using store::Catalog;
using store::Definition;
using store::Entry;
using store::StoredRelation;

namespace {

StoredInfo info_of(const Definition& definition) {
  StoredInfo info{definition.name, definition.type, std::nullopt, definition.statistics,
                  definition.bytes};
  const auto& edges = definition.extents.edges;
  if (edges) info.shape = tensor_shape(definition.type, *edges);
  return info;
}

}  // namespace

Database Database::open(const std::filesystem::path& path, const DatabaseOptions& options) {
  TESSERA_REQUIRE(TypeError, options.lock_seconds >= 0,
                  "lock_seconds={}: a number of seconds from 0 on", options.lock_seconds);
  auto state = std::make_shared<State>();
  // It stays the same folder wherever the process goes.
  state->folder = std::filesystem::absolute(path);
  const std::filesystem::path& folder = state->folder;
  state->options = options;
  if (!has_catalogue(folder)) {
    TESSERA_REQUIRE(IoError, options.create && !options.read_only, "there is no database {}",
                    folder.string());
    make_database(folder, options.lock_seconds);
  }
  const bool old = state->reader().is_old();  // says what is wrong with it, if anything is
  if (old && !options.read_only) upgrade_database(folder, options.lock_seconds);
  if (!options.read_only) remove_leftovers_if_idle(folder);
  return Database(std::move(state));
}

Database Database::temporary() {
  auto state = std::make_shared<State>();
  state->sync = store::Sync::never;
  const std::string folder = by_first("make a temporary database", [&] {
    state->temporary = std::make_unique<TemporaryFolder>(TemporaryFolder::make());
    make_database(state->temporary->path(), state->options.lock_seconds, state->sync);
    return state->temporary->path().string();
  });
  if (!state->temporary)
    state->temporary = std::make_unique<TemporaryFolder>(TemporaryFolder::join(folder));
  state->folder = state->temporary->path();
  return Database(std::move(state));
}

const std::filesystem::path& Database::folder() const { return state_->folder; }

std::vector<PastRun> Database::history() const { return state_->reader().history(); }

std::vector<KernelRate> Database::kernel_rates() const { return state_->reader().kernel_rates(); }

std::vector<StoredInfo> Database::list() const {
  std::vector<StoredInfo> result;
  Catalog catalog = state_->reader();
  const store::Transaction one_state = catalog.reading();
  for (const std::string& name : catalog.names()) {
    try {
      result.push_back(info_of(catalog.find(name).value()));
    } catch (const IoError& error) {
      StoredInfo damaged;
      damaged.name = name;
      damaged.damage = error.what();
      result.push_back(std::move(damaged));
    }
  }
  return result;
}

StoredInfo Database::info(const std::string& name) const {
  Catalog catalog = state_->reader();
  return info_of(find_stored(catalog, state_->folder, name));
}

Plan Database::plan(const std::string& name) const {
  const std::shared_ptr<const StoredRelation> stored = state_->stored(name);
  return Plan::input(
      stored->tuples(), [stored](const Key& key) { return stored->read(key); }, name,
      stored->facts());
}

Relation Database::read(const std::string& name) const {
  const std::shared_ptr<const StoredRelation> stored = state_->stored(name);
  std::vector<Tuple> tuples;
  for (const Entry& entry : stored->entries()) tuples.push_back({entry.key, stored->read(entry)});
  return Relation::assemble(stored->definition().type, std::move(tuples),
                            stored->tuples()->absent_types);
}

std::shared_ptr<const void> Database::kept_open() const {
  return std::shared_ptr<const Catalog>(new Catalog(state_->reader()));
}

std::optional<std::string> Database::text(const std::string& name) const {
  return state_->reader().text(name);
}

std::map<std::string, std::string> Database::texts(const std::string& prefix) const {
  return state_->reader().texts(prefix);
}

std::int64_t Database::vacuum() {
  constexpr double worth_keeping = 0.9;  // of a segment's bytes
  state_->refuse_if_read_only();
  return std::stoll(by_first(fmt::format("vacuum {}", folder().string()), [&] {
    WriteStatement statement = state_->writer();
    const std::int64_t given_back = reclaim(state_->folder, statement, worth_keeping);
    statement.catalog().compact();
    statement.catalog().checkpoint();
    return std::to_string(given_back);
  }));
}

void Database::checkpoint() {
  state_->refuse_if_read_only();
  (void)by_first(fmt::format("checkpoint {}", folder().string()), [&] {
    WriteStatement statement = state_->writer();
    statement.catalog().checkpoint();
    if (reclaim(state_->folder, statement, 0) > 0) statement.catalog().checkpoint();
    return "";
  });
}

std::vector<Damage> Database::check() const {
  Catalog catalog = state_->reader();
  std::vector<Damage> found = damage_of_catalogue(catalog);
  std::vector<std::string> names;
  try {
    names = catalog.names();
  } catch (const IoError& error) {
    found.push_back({"", std::nullopt, error.what()});
  }
  for (const std::string& name : names) {
    std::shared_ptr<const StoredRelation> stored;
    try {
      stored = state_->stored(name);
    } catch (const TypeError&) {
      continue;  // dropped meanwhile
    } catch (const Error& error) {
      found.push_back({name, std::nullopt, error.what()});
      continue;
    }
    for (const Entry& entry : stored->entries()) {
      try {
        (void)stored->read(entry);
      } catch (const Error& error) {
        found.push_back({name, entry.key, error.what()});
      }
    }
  }
  for (Damage& damage : damage_of_segments(state_->folder, catalog))
    found.push_back(std::move(damage));
  return found;
}

}  // namespace tessera
