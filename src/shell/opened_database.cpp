#include "shell/opened_database.h"

#include <fmt/format.h>

#include <iostream>

#include "shell/control_characters.h"

namespace tessera::shell {

Database opened_database(const std::string& folder, const DatabaseOptions& options) {
  Database database = Database::open(folder, options);
  if (database.is_new())
    std::cerr << fmt::format("created database {}\n", without_control_characters(folder));
  return database;
}

}  // namespace tessera::shell
