#include "store/string_block.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/packing.h"
#include "store/hidden_names.h"

namespace tessera::store {

void require_same_string(const std::string& one, const std::string& other) {
  TESSERA_REQUIRE(ValueError, one == other,
                  "the texts '{}' and '{}' have the same hash and cannot be stored together", one,
                  other);
}

void add_strings(Strings& all, Strings&& more) {
  all.merge(more);  // leaves in `more` those whose codes there were
  for (const auto& [code, string] : more) require_same_string(all.at(code), string);
}

std::vector<std::int64_t> to_numbers(const Strings& strings) {
  std::vector<std::int64_t> codes;  // in order, so that the same strings are the same bytes
  for (const auto& [code, string] : strings) codes.push_back(code);
  std::sort(codes.begin(), codes.end());
  PackedWriter bytes;
  bytes.put(static_cast<std::int64_t>(codes.size()));
  for (const std::int64_t code : codes) bytes.put(code).put(strings.at(code));
  std::vector<std::int64_t> numbers((bytes.bytes().size() + 7) / 8, 0);
  std::memcpy(numbers.data(), bytes.bytes().data(), bytes.bytes().size());
  return numbers;
}

Strings strings_of(const std::vector<std::int64_t>& numbers, const std::string& what) {
  PackedReader bytes({reinterpret_cast<const char*>(numbers.data()), numbers.size() * 8}, what);
  Strings strings;
  const std::int64_t count = bytes.count(2 * sizeof(std::int64_t));
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t code = bytes.integer();
    strings.emplace(code, bytes.text());
  }
  return strings;
}

Strings read_block(const File& segment, const Address& block, const std::string& relation) {
  const std::string what = fmt::format("a block of the texts of \"{}\"", shown_name(relation));
  return strings_of(read_numbers(segment, block.range, what), what);
}

Strings read_strings(const std::filesystem::path& database, const Definition& definition) {
  Strings all;
  for (const Address& block : definition.strings)
    add_strings(all, read_block(open_segment(database, block.segment), block, definition.name));
  return all;
}

}  // namespace tessera::store
