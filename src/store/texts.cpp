#include <fmt/format.h>

#include "base/check.h"
#include "store/catalog.h"
#include "store/catalog_format.h"

// Texts by name, which the catalogue keeps for others. Catalogues of version 1 have none.

namespace tessera::store {
namespace {

constexpr const char* columns = "SELECT name, value, checksum FROM texts";

/// The length keeps a name and a text apart from another name and another text.
std::int64_t checksum_of_text(const std::string& name, const std::string& value) {
  return checksum_of(fmt::format("{} {}\n{}", name.size(), name, value));
}

bool is_well(const Statement& row) {
  return row.integer(2) == checksum_of_text(row.text(0), row.text(1));
}

std::string damage_of(const std::string& name) {
  return fmt::format(
      "what the catalogue says of the text '{}' is damaged (checksum); restore it from a copy, or "
      "set it again",
      name);
}

}  // namespace

std::map<std::string, std::string> Catalog::texts(const std::string& prefix) {
  std::map<std::string, std::string> found;
  if (version_ < 2) return found;
  Statement rows = sqlite_.prepare(std::string(columns) + " WHERE name >= ? ORDER BY name");
  rows.bind(prefix);
  while (rows.step() && rows.text(0).starts_with(prefix)) {
    TESSERA_REQUIRE(IoError, is_well(rows), "{}", damage_of(rows.text(0)));
    found.emplace(rows.text(0), rows.text(1));
  }
  return found;
}

std::optional<std::string> Catalog::text(const std::string& name) {
  if (version_ < 2) return std::nullopt;
  Statement row = sqlite_.prepare(std::string(columns) + " WHERE name = ?");
  if (!row.bind(name).step()) return std::nullopt;
  TESSERA_REQUIRE(IoError, is_well(row), "{}", damage_of(name));
  return row.text(1);
}

void Catalog::set_text(const std::string& name, const std::optional<std::string>& value) {
  if (!value) {
    sqlite_.prepare("DELETE FROM texts WHERE name = ?").bind(name).run();
    return;
  }
  sqlite_
      .prepare(
          "INSERT INTO texts VALUES(?, ?, ?) ON CONFLICT(name) DO UPDATE SET value = "
          "excluded.value, checksum = excluded.checksum")
      .bind(name, *value, checksum_of_text(name, *value))
      .run();
}

std::vector<std::string> Catalog::damage_of_texts() {
  std::vector<std::string> found;
  if (version_ < 2) return found;
  Statement rows = sqlite_.prepare(std::string(columns) + " ORDER BY name");
  while (rows.step())
    if (!is_well(rows)) found.push_back(damage_of(rows.text(0)));
  return found;
}

}  // namespace tessera::store
