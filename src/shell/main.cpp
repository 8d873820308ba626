#include <iostream>

#include "shell/commands.h"
#include "tessera/error.h"

namespace tessera::shell {
namespace {

int run(int argc, char** argv) {
  CLI::App program("Tessera: a tensor-relational database.", "tessera");
  program.set_version_flag("--version", "tessera " TESSERA_VERSION, "Print the version and exit");
  program.get_help_ptr()->description("Print this help and exit");
  program.require_subcommand(0, 1);
  Action chosen;
  add_check(program, chosen);
  add_export(program, chosen);
  add_import(program, chosen);
  add_list(program, chosen);
  add_vacuum(program, chosen);
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return program.exit(error) == 0 ? 0 : misused;  // help and version come this way too
  }
  if (!chosen) {
    std::cerr << program.help();
    return misused;
  }
  const int status = chosen();
  std::cout.flush();
  if (!std::cout) throw IoError("cannot write to the standard output");
  return status;
}

}  // namespace
}  // namespace tessera::shell

int main(int argc, char** argv) {
  try {
    return tessera::shell::run(argc, argv);
  } catch (const tessera::Error& error) {
    std::cerr << error.kind() << ": " << error.what() << '\n';
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << '\n';
  }
  return tessera::shell::failed;
}
