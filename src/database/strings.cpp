#include <nlohmann/json.hpp>

#include "base/check.h"
#include "database/state.h"
#include "database/together.h"

// Strings and their codes. The dictionary is held in memory by who uses it.

namespace tessera {

using store::Catalog;
using store::Dictionary;

namespace {

/// The codes, or nothing if a string has none.
std::optional<std::vector<std::int64_t>> codes_in(const Dictionary& dictionary,
                                                  const std::vector<std::string>& strings) {
  std::vector<std::int64_t> codes;
  for (const std::string& string : strings) {
    const std::optional<std::int64_t> code = dictionary.code_of(string);
    if (!code) return std::nullopt;
    codes.push_back(*code);
  }
  return codes;
}

std::uint64_t hash_of(const std::vector<std::string>& strings) {
  std::uint64_t all = strings.size();
  for (const std::string& string : strings)
    all = all * 1099511628211u + std::hash<std::string>()(string);
  return all;
}

}  // namespace

/// The mutex is held. What is new is found under the lock: nobody gives another code meanwhile.
std::vector<std::int64_t> Database::State::add_strings(const std::vector<std::string>& strings) {
  WriteStatement statement = writer();
  dictionary.read_new(statement.catalog());
  if (auto known = codes_in(dictionary, strings)) return *known;
  TESSERA_REQUIRE(IoError, dictionary.damage().empty(),
                  "no string can be added to {}: {}; restore it from a copy", folder.string(),
                  dictionary.damage());
  statement.commit([&](Catalog& catalog) {
    std::set<std::string_view> added;
    for (const std::string& string : strings)
      if (!dictionary.code_of(string) && added.insert(string).second) catalog.add_string(string);
  });
  dictionary.read_new(statement.catalog());
  std::optional<std::vector<std::int64_t>> codes = codes_in(dictionary, strings);
  TESSERA_INVARIANT(codes, "strings that were just added to {} are not there", folder.string());
  return *codes;
}

std::vector<std::int64_t> Database::codes(const std::vector<std::string>& strings) {
  using nlohmann::json;
  const auto here = [&] {
    const std::lock_guard lock(state_->dictionary_mutex);
    if (auto known = codes_in(state_->dictionary, strings)) return *known;
    Catalog catalog = state_->reader();  // others may have added them
    state_->dictionary.read_new(catalog);
    if (auto known = codes_in(state_->dictionary, strings)) return *known;
    state_->refuse_if_read_only();
    return state_->add_strings(strings);
  };
  if (cluster_info().size == 1) return here();
  // On a cluster all ask the first one, whatever they know: who does not ask would not answer.
  std::optional<std::vector<std::int64_t>> mine;
  const std::string told = by_first(fmt::format("codes of {} strings ({:x}) in {}", strings.size(),
                                                hash_of(strings), folder().string()),
                                    [&] {
                                      mine = here();
                                      return json(*mine).dump();
                                    });
  return mine ? *mine : json::parse(told).get<std::vector<std::int64_t>>();
}

std::vector<std::string> Database::strings(const std::vector<std::int64_t>& codes) const {
  const std::lock_guard lock(state_->dictionary_mutex);
  Dictionary& dictionary = state_->dictionary;
  std::vector<std::string> found;
  for (const std::int64_t code : codes) {
    const std::string* string = dictionary.string_of(code);
    if (string == nullptr) {
      Catalog catalog = state_->reader();
      dictionary.read_new(catalog);
      string = dictionary.string_of(code);
    }
    TESSERA_REQUIRE(IoError, string != nullptr || !dictionary.damaged().contains(code),
                    "the string of code {} in {} is damaged (checksum); restore it from a copy",
                    code, folder().string());
    TESSERA_REQUIRE(IoError, string != nullptr, "there is no string with code {} in {}", code,
                    folder().string());
    found.push_back(*string);
  }
  return found;
}

}  // namespace tessera
