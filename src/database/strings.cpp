#include <xxhash.h>

#include "base/check.h"
#include "database/snapshot.h"

// Strings that columns of integers hold the codes of. They lie with the relations that use them.

namespace tessera {

using store::Strings;

std::int64_t code_of(std::string_view string) {
  // Above all codes that databases of version 2 have given.
  constexpr std::uint64_t lowest = std::uint64_t{1} << 62;
  const std::uint64_t hash = XXH3_64bits(string.data(), string.size());
  return static_cast<std::int64_t>(lowest | (hash >> 2));
}

/// Looks into all that was asked for, as two texts of one code must not be mixed up, and then, for
/// what is not found there, into all else that there is now.
std::vector<std::string> Snapshot::strings(const std::vector<std::int64_t>& codes) const {
  const std::lock_guard lock(state_->mutex);
  std::vector<std::string> found(codes.size());
  std::unordered_map<std::int64_t, std::vector<std::size_t>> wanted;
  for (std::size_t i = 0; i < codes.size(); ++i) wanted[codes[i]].push_back(i);
  Strings known_so_far;
  const auto take_from = [&](const auto& strings) {
    for (const auto& [code, places] : wanted) {
      const auto string = strings.find(code);
      if (string == strings.end()) continue;
      const auto& [first, is_new] = known_so_far.emplace(code, string->second);
      store::require_same_string(first->second, string->second);
      if (!is_new) continue;
      for (const std::size_t i : places) found[i] = string->second;
    }
  };
  const auto is_complete = [&] { return known_so_far.size() == wanted.size(); };
  const auto look_into = [&](const std::string& name, const store::StoredRelation& relation) {
    auto known = state_->strings.find(name);
    if (known == state_->strings.end())
      known = state_->strings.emplace(name, relation.strings()).first;
    take_from(known->second);
  };
  Database::State& database = *state_->database;
  take_from(state_->catalog->old_strings());
  for (const auto& [name, relation] : state_->opened) look_into(name, *relation);
  if (is_complete()) return found;
  for (const std::string& name : database.catalog->now()->names()) {
    if (is_complete()) break;
    try {
      take_from(database.stored(name)->strings());
    } catch (const TypeError&) {
      // It was dropped meanwhile.
    }
  }
  for (const auto& [code, places] : wanted)
    TESSERA_REQUIRE(IoError, known_so_far.contains(code), "the text with code {} is missing in {}",
                    code, database.folder.string());
  return found;
}

}  // namespace tessera
