#include <unistd.h>

#include <iostream>

#include "database/write_through.h"
#include "shell/commands.h"
#include "shell/file_options.h"

namespace tessera::shell {

void add_export(CLI::App& program, Action& chosen) {
  struct Arguments {
    std::string folder, names, file;
    FileOptions options;
  };
  CLI::App* command = program.add_subcommand("export", "Write tensors to a file");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("DATABASE", arguments->folder, "The database folder")->required();
  command
      ->add_option("NAME", arguments->names,
                   "The tensor; several, separated by commas, for an archive")
      ->required();
  command->add_option("FILE", arguments->file, "The file to write")->required();
  arguments->options.add_common_to(*command);
  command->callback([arguments, &chosen] {
    chosen = [arguments] {
      // What goes through a pipe is the file and nothing else.
      const bool piped = descriptor_of(arguments->file) == STDOUT_FILENO;
      return run_on_file(
          arguments->options, piped ? std::cerr : std::cout, [&](const FormatOptions& options) {
            return Database::open(arguments->folder, {.create = false, .read_only = true})
                .export_file(CLI::detail::split(arguments->names, ','), arguments->file, options);
          });
    };
  });
}

}  // namespace tessera::shell
