#pragma once

#include <string>

#include "tessera/database.h"

namespace tessera::shell {

/// Opens a database. One that was not there and is made is told of on the standard error: the name
/// may be a slip.
Database opened_database(const std::string& folder, const DatabaseOptions& options = {});

}  // namespace tessera::shell
