#include "database/names.h"

#include "base/characters.h"
#include "base/check.h"
#include "base/names_text.h"
#include "store/hidden_names.h"

namespace tessera {

void check_name(const std::string& name) {
  TESSERA_REQUIRE(TypeError, !name.empty() && name.size() <= 255,
                  "a name must have 1 to 255 bytes, but \"{}\" has {}", name.substr(0, 40),
                  name.size());
  TESSERA_REQUIRE(TypeError, is_utf8(name), "a name must be valid UTF-8");
  TESSERA_REQUIRE(TypeError, !has_control_characters(name),
                  "a name must not contain control characters");
}

void check_any_name(const std::string& name) {
  check_name(store::is_hidden(name) ? store::shown_name(name) : name);
}

void refuse_taken(const store::Catalog& catalog, const std::string& name) {
  TESSERA_REQUIRE(TypeError, !catalog.has(name), "relation \"{}\" already exists; drop it first",
                  store::shown_name(name));
}

store::Definition find_stored(const store::Catalog& catalog, const std::filesystem::path& database,
                              const std::string& name) {
  std::optional<store::Definition> found = catalog.find(name);
  if (found) return std::move(*found);
  std::vector<std::string> others = catalog.names();
  std::erase_if(others, [](const std::string& other) { return store::is_hidden(other); });
  throw TypeError(fmt::format("relation \"{}\" not found in {}; {}", store::shown_name(name),
                              database.string(), instead_of(store::shown_name(name), others)));
}

}  // namespace tessera
