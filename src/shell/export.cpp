#include <iostream>

#include "shell/commands.h"
#include "shell/file_options.h"
#include "shell/interrupt.h"
#include "shell/progress_line.h"

namespace tessera::shell {

void add_export(CLI::App& program, Action& chosen) {
  struct Arguments {
    std::string folder, names, file;
    FileOptions options;
  };
  CLI::App* command = program.add_subcommand("export", "Write tensors to a file");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("DATABASE", arguments->folder, "The folder of the database")->required();
  command->add_option("NAME", arguments->names, "The tensor; several, with commas, for an archive")
      ->required();
  command->add_option("FILE", arguments->file, "What is written")->required();
  arguments->options.add_common_to(*command);
  command->callback([arguments, &chosen] {
    chosen = [arguments] {
      FormatOptions options = arguments->options.parsed();
      const Interrupt interrupt;
      options.stop = interrupt.token();
      FileReport report;
      {
        ProgressLine line;
        options.progress = line.listener();
        report =
            Database::open(arguments->folder, {.create = false, .read_only = true})
                .export_file(CLI::detail::split(arguments->names, ','), arguments->file, options);
      }
      std::cout << summary(report) << '\n';
      return 0;
    };
  });
}

}  // namespace tessera::shell
