#include <fmt/format.h>

#include <iostream>

#include "shell/commands.h"
#include "tessera/database.h"

namespace tessera::shell {

void add_vacuum(CLI::App& program, Action& chosen) {
  CLI::App* command = program.add_subcommand("vacuum", "Reclaim the space of dropped relations");
  auto folder = std::make_shared<std::string>();
  command->add_option("DATABASE", *folder, "The database folder")->required();
  command->callback([folder, &chosen] {
    chosen = [folder] {
      Database database = Database::open(*folder, {.create = false});
      std::cout << fmt::format("{}: freed {} bytes\n", *folder, database.vacuum());
      return 0;
    };
  });
}

}  // namespace tessera::shell
