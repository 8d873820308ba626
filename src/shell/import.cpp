#include <iostream>

#include "shell/commands.h"
#include "shell/file_options.h"
#include "shell/opened_database.h"

namespace tessera::shell {

void add_import(CLI::App& program, Action& chosen) {
  struct Arguments {
    std::string folder, name, file;
    FileOptions options;
  };
  CLI::App* command = program.add_subcommand("import", "Import a file");
  auto arguments = std::make_shared<Arguments>();
  command
      ->add_option("DATABASE", arguments->folder,
                   "The database folder, created if it does not exist")
      ->required();
  command->add_option("NAME", arguments->name, "The name of the new tensor")->required();
  command->add_option("FILE", arguments->file, "The file to read")->required();
  arguments->options.add_common_to(*command);
  arguments->options.add_import_to(*command);
  command->callback([arguments, &chosen] {
    chosen = [arguments] {
      return run_on_file(arguments->options, std::cout, [&](const FormatOptions& options) {
        return opened_database(arguments->folder)
            .import_file(arguments->name, arguments->file, options);
      });
    };
  });
}

}  // namespace tessera::shell
