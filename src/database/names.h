#pragma once

#include "store/catalog.h"

namespace tessera {

// What is said of names, in all statements alike: TypeError.

/// A name that a user may give.
void check_name(const std::string& name);
/// The same, or one that is kept from users (`store::hidden_name`).
void check_any_name(const std::string& name);
void refuse_taken(const store::Catalog& catalog, const std::string& name);
/// With a list of what is there, if it is not.
store::Definition find_stored(const store::Catalog& catalog, const std::filesystem::path& database,
                              const std::string& name);

}  // namespace tessera
