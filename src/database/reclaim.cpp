#include "database/reclaim.h"

#include <map>
#include <set>

#include "base/check.h"
#include "store/stored_relation.h"

namespace tessera {

using store::Catalog;
using store::Definition;
using store::Directory;
using store::Entry;
using store::StoredRelation;

namespace {

/// What records take of each segment.
std::map<std::int64_t, std::int64_t> used_bytes(const std::filesystem::path& database,
                                                const std::vector<Definition>& all) {
  std::map<std::int64_t, std::int64_t> used;
  const auto count = [&](const store::Address& address) {
    used[address.segment] += (address.place.bytes + 7) / 8 * 8;
  };
  for (const Definition& definition : all) {
    for (const store::Address& part : definition.directories) count(part);
    const StoredRelation stored(database, definition);
    for (const Entry& entry : stored.entries()) count(entry.address);
  }
  return used;
}

bool touches(const Definition& definition, const std::set<std::int64_t>& leaving,
             const StoredRelation& stored) {
  for (const store::Address& part : definition.directories)
    if (leaving.contains(part.segment)) return true;
  for (const Entry& entry : stored.entries())
    if (leaving.contains(entry.address.segment)) return true;
  return false;
}

void remove_segments(const std::filesystem::path& database, const std::set<std::int64_t>& gone) {
  for (const std::int64_t segment : gone) {
    try {
      remove_file(store::segment_path(database, segment));
    } catch (const IoError& error) {
      throw IoError(
          fmt::format("{}; nothing uses it any more, and the next statement that writes "
                      "tries to remove it again",
                      error.what()));
    }
  }
}

}  // namespace

std::int64_t reclaim(const std::filesystem::path& database, WriteStatement& statement,
                     double worth_keeping) {
  Catalog& catalog = statement.catalog();
  const std::vector<Definition> all = catalog.all();
  std::map<std::int64_t, std::int64_t> used = used_bytes(database, all);
  std::set<std::int64_t> leaving;
  std::int64_t before = 0;
  for (const auto& [segment, bytes] : catalog.segments()) {
    before += bytes;
    const auto worth = worth_keeping * static_cast<double>(bytes - store::segment_head_bytes);
    if (used[segment] == 0 || static_cast<double>(used[segment]) < worth) leaving.insert(segment);
  }
  if (leaving.empty()) return 0;
  statement.start_new_segment();
  std::map<std::string, std::pair<std::vector<store::Address>, std::int64_t>> moved;
  for (const Definition& definition : all) {
    const StoredRelation stored(database, definition);
    if (!touches(definition, leaving, stored)) continue;
    Directory directory{stored.entries()};
    for (Entry& entry : directory.entries)
      if (leaving.contains(entry.address.segment))
        entry = statement.appender().append(entry.key, stored.read(entry));
    moved[definition.name] = {{statement.appender().append(directory)}, store::bytes_in(directory)};
  }
  statement.commit([&](Catalog& changed) {
    for (const auto& [name, to] : moved) changed.move(name, to.first, to.second);
    for (const std::int64_t segment : leaving) changed.forget_segment(segment);
  });
  remove_segments(database, leaving);
  std::int64_t after = 0;
  for (const auto& [segment, bytes] : catalog.segments()) after += bytes;
  return before - after;
}

}  // namespace tessera
