#include "database/snapshot.h"

#include "base/check.h"
#include "base/stop.h"
#include "database/names.h"
#include "store/hidden_names.h"

namespace tessera {

using store::Definition;
using store::Entry;
using store::StoredRelation;

StoredInfo info_of(const Definition& definition) {
  StoredInfo info{definition.name, definition.type, std::nullopt, definition.statistics,
                  definition.bytes};
  const auto& edges = definition.extents.edges;
  if (edges) info.shape = tensor_shape(definition.type, *edges);
  return info;
}

/// Who has a segment open keeps others from giving back its room. It may have been given back
/// before; then the catalogue does not name it any more.
std::shared_ptr<const StoredRelation> Snapshot::State::open(const std::string& name) const {
  {
    const std::lock_guard lock(mutex);
    if (const auto known = opened.find(name); known != opened.end()) return known->second;
  }
  const Definition definition = find_stored(*catalog, database->folder, name);
  std::shared_ptr<const StoredRelation> stored;
  std::exception_ptr failure;
  try {
    stored = std::make_shared<const StoredRelation>(database->folder, definition);
  } catch (const IoError&) {
    failure = std::current_exception();
  }
  if (!database->catalog->now()->still_has(definition)) {
    outdated = true;
    throw Outdated(fmt::format(
        "\"{}\" was dropped or rewritten while this statement was reading it: try again",
        store::shown_name(name)));
  }
  if (failure) std::rethrow_exception(failure);
  const std::lock_guard lock(mutex);
  return opened.emplace(name, std::move(stored)).first->second;
}

bool Snapshot::is_outdated() const { return state_->outdated; }

std::int64_t Snapshot::commit() const { return state_->catalog->commit(); }

std::vector<StoredInfo> Snapshot::list() const {
  std::vector<StoredInfo> result;
  for (const std::string& name : state_->catalog->names()) {
    if (store::is_hidden(name)) continue;
    try {
      result.push_back(info_of(state_->catalog->find(name).value()));
    } catch (const IoError& error) {
      StoredInfo damaged;
      damaged.name = name;
      damaged.damage = error.what();
      result.push_back(std::move(damaged));
    }
  }
  return result;
}

std::vector<std::string> Snapshot::names() const { return state_->catalog->names(); }

StoredInfo Snapshot::info(const std::string& name) const {
  return info_of(find_stored(*state_->catalog, state_->database->folder, name));
}

Plan Snapshot::plan(const std::string& name) const {
  const std::shared_ptr<const StoredRelation> stored = state_->open(name);
  return Plan::input(
      stored->tuples(), [stored](const Key& key) { return stored->read(key); },
      store::shown_name(name), stored->facts());
}

Relation Snapshot::read(const std::string& name) const {
  const std::shared_ptr<const StoredRelation> stored = state_->open(name);
  std::vector<Tuple> tuples;
  for (const Entry& entry : stored->entries()) {
    refuse_if_stopped("tiles were read");
    tuples.push_back({entry.key, stored->read(entry)});
  }
  return Relation::assemble(stored->definition().type, std::move(tuples),
                            stored->tuples()->absent_types);
}

std::optional<std::string> Snapshot::text(const std::string& name) const {
  return state_->catalog->text(name);
}

std::map<std::string, std::string> Snapshot::texts(const std::string& prefix) const {
  return state_->catalog->texts(prefix);
}

std::vector<PastRun> Snapshot::history() const { return state_->catalog->history(); }

std::vector<KernelRate> Snapshot::kernel_rates() const { return state_->catalog->kernel_rates(); }

}  // namespace tessera
