#include "database/damage.h"

#include "base/check.h"
#include "store/dictionary.h"

namespace tessera {
namespace {

Damage of_database(const std::string& reason) { return {"", std::nullopt, reason}; }

}  // namespace

std::vector<Damage> damage_of_catalogue(store::Catalog& catalog) {
  std::vector<Damage> found;
  try {
    const std::string said = catalog.self_check();
    if (said != "ok") found.push_back(of_database("the catalogue: " + said));
    for (const std::string& text : catalog.damage_of_texts()) found.push_back(of_database(text));
    store::Dictionary dictionary;
    dictionary.read_new(catalog);
    for (const std::int64_t code : dictionary.damaged())
      found.push_back(
          of_database(fmt::format("the string of code {} is damaged (checksum)", code)));
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
