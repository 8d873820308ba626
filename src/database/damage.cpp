#include "database/damage.h"

#include "base/check.h"

namespace tessera {
namespace {

Damage of_database(const std::string& reason) { return {"", std::nullopt, reason}; }

}  // namespace

std::vector<Damage> damage_of_catalogue(store::Catalog& catalog) {
  std::vector<Damage> found;
  try {
    const std::string said = catalog.self_check();
    if (said != "ok") found.push_back(of_database("the catalogue: " + said));
  } catch (const IoError& error) {
    found.push_back(of_database(error.what()));
  }
  return found;
}

std::vector<Damage> damage_of_segments(const std::filesystem::path& database,
                                       store::Catalog& catalog) {
  std::vector<Damage> found;
  try {
    for (const auto& [segment, bytes] : catalog.segments()) {
      std::string damage;
      try {
        damage = store::damage_of_segment(store::open_segment(database, segment), bytes);
      } catch (const IoError& error) {
        damage = error.what();
      }
      // A vacuum may have removed it meanwhile.
      if (!damage.empty() && catalog.segments().contains(segment))
        found.push_back(of_database(damage));
    }
  } catch (const IoError& error) {
    found.push_back(of_database(error.what()));
  }
  return found;
}

}  // namespace tessera
