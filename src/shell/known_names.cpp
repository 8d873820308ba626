#include "shell/known_names.h"

#include "session/stored_definitions.h"
#include "tessera/kernel.h"

namespace tessera::shell {
namespace {

using session::StoredDefinitions;

std::vector<std::string> columns_of(StoredDefinitions& catalogue, const std::string& name,
                                    StoredDefinitions::Kind kind) {
  std::vector<std::string> columns;
  switch (kind) {
    case StoredDefinitions::Kind::view: return catalogue.view(name)->columns;
    case StoredDefinitions::Kind::versions:
      for (const query::VersionRule& rule : *catalogue.rules(name))
        if (columns.empty()) columns = rule.column_names();
      return columns;
    case StoredDefinitions::Kind::table:
    case StoredDefinitions::Kind::tensor:
    case StoredDefinitions::Kind::virtual_tensor: break;
  }
  for (const query::Column& column : catalogue.table(name).schema) columns.push_back(column.name);
  return columns;
}

}  // namespace

KnownNames known_names(Session& session) {
  KnownNames names;
  StoredDefinitions catalogue(session.database().snapshot());
  for (const auto& [name, kind] : catalogue.all())
    names.tables[name] = columns_of(catalogue, name, kind);
  for (const auto& kernel : all_kernels()) names.functions.push_back(kernel->name);
  for (const auto& [alias, call] : all_aliases()) names.functions.push_back(alias);
  const ResultTable settings = session.query("SHOW SETTINGS");
  for (std::int64_t row = 0; row < settings.rows(); ++row)
    names.settings.push_back(settings.text(row, 0));
  return names;
}

}  // namespace tessera::shell
