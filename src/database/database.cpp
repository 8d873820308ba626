#include "tessera/database.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/check.h"
#include "base/stop.h"
#include "database/by_first.h"
#include "database/damage.h"
#include "database/leftovers.h"
#include "database/names.h"
#include "database/new_database.h"
#include "database/reclaim.h"
#include "database/snapshot.h"
#include "store/hidden_names.h"
#include "store/old_catalog.h"
#include "store/own_files.h"

namespace tessera {

using store::Entry;
using store::StoredRelation;

namespace {

/// The last step of a statement that has happened already.
void compact(store::CatalogFile& catalog) {
  try {
    catalog.compact();
  } catch (const IoError&) {
    // The files stay as they are until they can be written anew.
  }
}

void check_lock_seconds(double seconds) {
  TESSERA_REQUIRE(TypeError, seconds >= 0,
                  "lock_seconds={}: it must be a number of seconds, at least 0", seconds);
}

}  // namespace

Database Database::open(const std::filesystem::path& path, const DatabaseOptions& options) {
  check_lock_seconds(options.lock_seconds);
  auto state = std::make_shared<State>();
  // It stays the same folder wherever the process goes.
  state->folder = std::filesystem::absolute(path);
  const std::filesystem::path& folder = state->folder;
  state->options = options;
  refuse_links(folder);
  if (!store::has_catalogue(folder)) {
    refuse_other_files(folder);
    TESSERA_REQUIRE(IoError, options.create && !options.read_only, "database \"{}\" does not exist",
                    folder.string());
    state->is_new = make_database(folder, options.lock_seconds);
  }
  if (!options.read_only && store::has_old_files(folder))
    upgrade_database(folder, options.lock_seconds);
  state->catalog = std::make_unique<store::CatalogFile>(folder, state->sync);
  (void)state->catalog->now();  // says what is wrong with it, if anything is
  if (!options.read_only) remove_leftovers_if_idle(folder, *state->catalog);
  return Database(std::move(state));
}

Database Database::temporary(const ExternalAccess& external_access,
                             std::shared_ptr<exec::Engine> engine) {
  auto state = std::make_shared<State>();
  state->options.engine = std::move(engine);
  state->sync = store::Sync::never;
  state->options.external_access = external_access;
  const RunOptions running = state->filled_in();
  const std::string folder = by_first(*running.engine, "make a temporary database", [&] {
    state->temporary = std::make_unique<TemporaryFolder>(TemporaryFolder::make());
    state->is_new =
        make_database(state->temporary->path(), state->options.lock_seconds, state->sync);
    return state->temporary->path().string();
  });
  if (!state->temporary)
    state->temporary = std::make_unique<TemporaryFolder>(TemporaryFolder::join(folder));
  state->folder = state->temporary->path();
  state->catalog = std::make_unique<store::CatalogFile>(state->folder, state->sync);
  return Database(std::move(state));
}

const std::filesystem::path& Database::folder() const { return state_->folder; }

const ExternalAccess& Database::external_access() const { return state_->options.external_access; }

bool Database::is_new() const { return state_->is_new; }

bool Database::is_read_only() const { return state_->options.read_only; }

double Database::lock_seconds() const { return state_->options.lock_seconds; }

Database Database::with_lock_seconds(double seconds) const {
  check_lock_seconds(seconds);
  auto state = std::make_shared<State>(*state_);
  state->options.lock_seconds = seconds;
  return Database(std::move(state));
}

std::shared_ptr<exec::Engine> Database::engine() const { return state_->filled_in().engine; }

Database Database::with_engine(std::shared_ptr<exec::Engine> engine) const {
  if (state_->options.engine == engine) return *this;
  auto state = std::make_shared<State>(*state_);
  state->options.engine = std::move(engine);
  return Database(std::move(state));
}

Snapshot Database::snapshot() const { return state_->snapshot_of(state_->catalog->now()); }

Snapshot Database::common_snapshot() const {
  const RunOptions running = state_->filled_in();
  if (running.engine->processes() == 1) return snapshot();
  std::shared_ptr<const store::Catalog> state;
  const std::string told =
      by_first(*running.engine, fmt::format("read {}", folder().string()), [&] {
        state = state_->catalog->now();
        return fmt::format("{} {}", state->commit(), hexadecimal(state->image()));
      });
  if (!state) {
    const std::size_t blank = told.find(' ');
    state = std::make_shared<const store::Catalog>(store::Catalog::from_image(
        from_hexadecimal(std::string_view(told).substr(blank + 1)), std::stoll(told)));
  }
  return state_->snapshot_of(std::move(state));
}

std::vector<PastRun> Database::history() const { return snapshot().history(); }
std::vector<KernelRate> Database::kernel_rates() const { return snapshot().kernel_rates(); }
std::vector<StoredInfo> Database::list() const { return snapshot().list(); }
StoredInfo Database::info(const std::string& name) const { return snapshot().info(name); }

Plan Database::plan(const std::string& name) const {
  return state_->of_present([&](const Snapshot& present) { return present.plan(name); });
}
Relation Database::read(const std::string& name) const {
  return state_->of_present([&](const Snapshot& present) { return present.read(name); });
}

std::optional<std::string> Database::text(const std::string& name) const {
  return snapshot().text(name);
}
std::map<std::string, std::string> Database::texts(const std::string& prefix) const {
  return snapshot().texts(prefix);
}

std::int64_t Database::vacuum() {
  constexpr double worth_keeping = 0.9;  // of a segment's bytes
  state_->refuse_if_read_only();
  const RunOptions running = state_->filled_in();
  return std::stoll(by_first(*running.engine, fmt::format("vacuum {}", folder().string()), [&] {
    WriteStatement statement = state_->writer();
    const std::int64_t before = room_of_segments(state_->folder, statement.catalog());
    give_back_in_place(state_->folder, statement.catalog());
    reclaim(state_->folder, statement, worth_keeping);
    const std::int64_t after = room_of_segments(state_->folder, statement.catalog());
    compact(*state_->catalog);
    return std::to_string(std::max<std::int64_t>(0, before - after));
  }));
}

void Database::checkpoint() {
  state_->refuse_if_read_only();
  const RunOptions running = state_->filled_in();
  (void)by_first(*running.engine, fmt::format("checkpoint {}", folder().string()), [&] {
    WriteStatement statement = state_->writer();
    reclaim(state_->folder, statement, 0);
    give_back_in_place(state_->folder, statement.catalog());
    compact(*state_->catalog);
    return "";
  });
}

std::vector<Damage> Database::check() const {
  std::vector<Damage> found = damage_of_catalogue(*state_->catalog);
  std::shared_ptr<const store::Catalog> catalog;
  try {
    catalog = state_->catalog->now();
  } catch (const IoError&) {
    return found;  // which says it
  }
  for (const std::string& name : catalog->names()) {
    const std::string shown = store::shown_name(name);
    std::shared_ptr<const StoredRelation> stored;
    try {
      stored = state_->stored(name);
      (void)stored->strings();
    } catch (const TypeError&) {
      continue;  // dropped meanwhile
    } catch (const Interrupted&) {
      throw;
    } catch (const Error& error) {
      found.push_back({shown, std::nullopt, error.what()});
      if (!stored) continue;
    }
    for (const Entry& entry : stored->entries()) {
      refuse_if_stopped("tiles were compared with their checksums");
      try {
        (void)stored->read(entry);
      } catch (const Interrupted&) {
        throw;
      } catch (const Error& error) {
        found.push_back({shown, entry.key, error.what()});
      }
    }
  }
  for (Damage& damage : damage_of_segments(state_->folder, *state_->catalog))
    found.push_back(std::move(damage));
  return found;
}

}  // namespace tessera
