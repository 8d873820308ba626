#pragma once

#include "store/catalog.h"

namespace tessera {

// What is said of names, in all statements alike: TypeError.

void check_name(const std::string& name);
void refuse_taken(store::Catalog& catalog, const std::string& name);
/// With a list of what is there, if it is not.
store::Definition find_stored(store::Catalog& catalog, const std::filesystem::path& database,
                              const std::string& name);

}  // namespace tessera
