#include "database/reclaim.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/check.h"
#include "base/stop.h"
#include "store/stored_relation.h"
#include "store/string_block.h"

namespace tessera {

using store::Catalog;
using store::Definition;
using store::Directory;
using store::Entry;
using store::StoredRelation;

namespace {

/// Where the records of relations are, by segment.
using Used = std::map<std::int64_t, std::vector<store::FileRange>>;

Used used_places(const std::filesystem::path& database, const std::vector<Definition>& all) {
  Used used;
  const auto add = [&](const store::Address& address) {
    used[address.segment].push_back(address.range);
  };
  for (const Definition& definition : all) {
    for (const store::Address& part : definition.directories) add(part);
    for (const store::Address& block : definition.strings) add(block);
    const StoredRelation stored(database, definition);
    for (const Entry& entry : stored.entries()) add(entry.address);
  }
  return used;
}

std::int64_t bytes_of(const std::vector<store::FileRange>& ranges) {
  std::int64_t bytes = 0;
  for (const store::FileRange& range : ranges) bytes += (range.bytes + 7) / 8 * 8;
  return bytes;
}

bool touches(const Definition& definition, const std::set<std::int64_t>& leaving,
             const StoredRelation& stored) {
  for (const store::Address& part : definition.directories)
    if (leaving.contains(part.segment)) return true;
  for (const store::Address& block : definition.strings)
    if (leaving.contains(block.segment)) return true;
  for (const Entry& entry : stored.entries())
    if (leaving.contains(entry.address.segment)) return true;
  return false;
}

/// The relation, with what lies in segments that go written again.
Definition moved(const std::filesystem::path& database, const Definition& definition,
                 const StoredRelation& stored, const std::set<std::int64_t>& leaving,
                 Appender& appender) {
  Definition result = definition;
  Directory directory{stored.entries()};
  for (Entry& entry : directory.entries) {
    refuse_if_stopped("tiles were rewritten; no space was freed");
    if (leaving.contains(entry.address.segment))
      entry = appender.append(entry.key, stored.read(entry));
  }
  result.directories = {appender.append(directory)};
  result.bytes = store::bytes_in(directory);
  if (!definition.strings.empty())
    result.strings = {appender.append(store::read_strings(database, definition))};
  return result;
}

void remove_segments(const std::filesystem::path& database, const std::set<std::int64_t>& gone) {
  for (const std::int64_t segment : gone) {
    try {
      remove_file(store::segment_path(database, segment));
    } catch (const IoError& error) {
      throw IoError(fmt::format(
          "{}; the file is no longer used; the next statement that writes tries to remove it again",
          error.what()));
    }
  }
}

}  // namespace

namespace {

/// The segments that are left behind: those of which nothing is used, and then those that are least
/// worth keeping, as long as there is room for what is written again.
std::set<std::int64_t> segments_to_leave(const std::filesystem::path& database,
                                         const Catalog& catalog, const Used& used,
                                         double worth_keeping) {
  std::vector<std::pair<std::int64_t, std::int64_t>> candidates;  // bytes that are used, segment
  for (const auto& [segment, bytes] : catalog.segments()) {
    const auto there = used.find(segment);
    const std::int64_t kept = there != used.end() ? bytes_of(there->second) : 0;
    const auto worth = worth_keeping * static_cast<double>(bytes - store::segment_head_bytes);
    if (kept == 0 || static_cast<double>(kept) < worth) candidates.emplace_back(kept, segment);
  }
  std::sort(candidates.begin(), candidates.end());
  std::error_code error;
  const auto space = std::filesystem::space(database, error);
  constexpr std::int64_t reserve = 1 << 20;  // for directories, and the catalogue
  std::int64_t room = error ? 0 : static_cast<std::int64_t>(space.available) - reserve;
  std::set<std::int64_t> leaving;
  for (const auto& [kept, segment] : candidates) {
    if (kept > 0 && kept > room) break;
    room -= kept;
    leaving.insert(segment);
  }
  return leaving;
}

}  // namespace

void reclaim(const std::filesystem::path& database, WriteStatement& statement,
             double worth_keeping) {
  const std::vector<Definition> all = statement.catalog().all();
  const std::set<std::int64_t> leaving =
      segments_to_leave(database, statement.catalog(), used_places(database, all), worth_keeping);
  if (leaving.empty()) return;
  statement.start_new_segment();
  std::vector<Definition> changed;
  for (const Definition& definition : all) {
    const StoredRelation stored(database, definition);
    if (touches(definition, leaving, stored))
      changed.push_back(moved(database, definition, stored, leaving, statement.appender()));
  }
  statement.commit([&](Catalog& catalog) {
    for (const Definition& definition : changed) catalog.update(definition);
    for (const std::int64_t segment : leaving) catalog.forget_segment(segment);
  });
  remove_segments(database, leaving);
}

void give_back_in_place(const std::filesystem::path& database, const Catalog& catalog) {
  const Used used = used_places(database, catalog.all());
  for (const auto& [segment, length] : catalog.segments()) {
    const auto there = used.find(segment);
    store::punch_holes(database, segment,
                       there != used.end() ? there->second : std::vector<store::FileRange>{});
  }
}

std::int64_t room_of_segments(const std::filesystem::path& database, const Catalog& catalog) {
  std::int64_t bytes = 0;
  for (const auto& [segment, length] : catalog.segments())
    bytes += store::open_segment(database, segment).room();
  return bytes;
}

}  // namespace tessera
