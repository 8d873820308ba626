#include "database/state.h"

#include "base/check.h"

namespace tessera {

using store::Catalog;
using store::Definition;
using store::StoredRelation;

Catalog Database::State::reader() const {
  return {folder, options.read_only ? Catalog::Mode::read : Catalog::Mode::write};
}

void Database::State::refuse_if_read_only() const {
  TESSERA_REQUIRE(IoError, !options.read_only, "{} is open for reading only", folder.string());
}

WriteStatement Database::State::writer(std::int64_t stride) const {
  refuse_if_read_only();
  return {folder, options.lock_seconds, compression(), stride};
}

store::Compression Database::State::compression() const {
  return options.compress ? store::Compression::zstd : store::Compression::none;
}

Definition Database::State::find(Catalog& catalog, const std::string& name) const {
  std::optional<Definition> found = catalog.find(name);
  if (found) return std::move(*found);
  std::string others;
  for (const std::string& other : catalog.names()) others += (others.empty() ? "" : ", ") + other;
  throw TypeError(fmt::format("there is no '{}' in {}; there is {}", name, folder.string(),
                              others.empty() ? "nothing" : others));
}

/// A vacuum may move it between the look at the catalogue and the opening of its files: then the
/// catalogue says where it is.
std::shared_ptr<const StoredRelation> Database::State::stored(const std::string& name) const {
  Catalog catalog = reader();
  Definition definition = find(catalog, name);
  for (;;) {
    try {
      return std::make_shared<const StoredRelation>(folder, definition);
    } catch (const IoError&) {
      Definition now = find(catalog, name);
      if (now.directories == definition.directories) throw;
      definition = std::move(now);
    }
  }
}

void check_name(const std::string& name) {
  TESSERA_REQUIRE(TypeError, !name.empty() && name.size() <= 255,
                  "a name has 1 to 255 bytes, '{}' has {}", name.substr(0, 40), name.size());
  for (const char letter : name)
    TESSERA_REQUIRE(TypeError, static_cast<unsigned char>(letter) >= ' ' && letter != 127,
                    "a name has no control characters");
}

void refuse_taken(Catalog& catalog, const std::string& name) {
  TESSERA_REQUIRE(TypeError, !catalog.has(name), "there is a '{}' already; drop it first", name);
}

}  // namespace tessera
