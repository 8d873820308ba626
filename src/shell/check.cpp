#include <fmt/format.h>

#include <iostream>

#include "shell/commands.h"
#include "shell/control_characters.h"
#include "tessera/database.h"

namespace tessera::shell {
namespace {

int check(const std::string& folder) {
  const std::optional<Database> opened = [&]() -> std::optional<Database> {
    try {
      return Database::open(folder, {.create = false, .read_only = true});
    } catch (const Error& error) {
      std::cerr << error.kind() << ": " << without_control_characters(error.what()) << '\n';
      return std::nullopt;
    }
  }();
  if (!opened) return not_opened;
  const Database& database = *opened;
  const std::vector<Damage> found = database.check();
  for (const Damage& damage : found)
    std::cout << fmt::format("{}{}: {}\n", damage.name.empty() ? "the database" : damage.name,
                             damage.key ? " at " + to_string(*damage.key) : "",
                             without_control_characters(damage.reason));
  if (found.empty()) std::cout << fmt::format("{}: no errors found\n", folder);
  return found.empty() ? 0 : failed;
}

}  // namespace

void add_check(CLI::App& program, Action& chosen) {
  CLI::App* command =
      program.add_subcommand("check", "Verify all checksums and list what is damaged");
  auto folder = std::make_shared<std::string>();
  command->add_option("DATABASE", *folder, "The database folder")->required();
  command->callback([folder, &chosen] { chosen = [folder] { return check(*folder); }; });
}

}  // namespace tessera::shell
