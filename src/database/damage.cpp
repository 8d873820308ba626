#include "database/damage.h"

#include "base/check.h"

namespace tessera {
namespace {

Damage of_database(const std::string& reason) { return {"", std::nullopt, reason}; }

}  // namespace

std::vector<Damage> damage_of_catalogue(store::CatalogFile& catalog) {
  std::vector<Damage> found;
  try {
    for (const std::string& text : catalog.damage()) found.push_back(of_database(text));
  } catch (const IoError& error) {
    found.push_back(of_database(error.what()));
  }
  return found;
}

std::vector<Damage> damage_of_segments(const std::filesystem::path& database,
                                       store::CatalogFile& catalog) {
  std::vector<Damage> found;
  const std::shared_ptr<const store::Catalog> state = catalog.now();
  for (const auto& [segment, bytes] : state->segments()) {
    std::string damage;
    try {
      damage = store::damage_of_segment(store::open_segment(database, segment), bytes);
    } catch (const IoError& error) {
      damage = error.what();
    }
    // A vacuum may have removed it meanwhile.
    if (!damage.empty() && catalog.now()->segments().contains(segment))
      found.push_back(of_database(damage));
  }
  return found;
}

}  // namespace tessera
