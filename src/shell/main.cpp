#include <csignal>
#include <iostream>

#include "base/failed_allocation.h"
#include "display/display_width.h"
#include "shell/commands.h"
#include "shell/control_characters.h"
#include "shell/output.h"
#include "tessera/error.h"

namespace tessera::shell {
namespace {

int run(int argc, char** argv) {
  CLI::App program("Tessera: a tensor-relational database.", "tessera");
  program.set_version_flag("--version", "tessera " TESSERA_VERSION, "Print the version and exit");
  program.get_help_ptr()->description("Print this help and exit");
  program.require_subcommand(0, 1);
  Action chosen;
  add_session(program, chosen);
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
  const int status = chosen();
  finish_standard_output();
  return status;
}

/// As programs end whose output nobody reads, but after what has to be tidied up.
[[noreturn]] void end_as_unread() {
  (void)std::signal(SIGPIPE, SIG_DFL);
  (void)std::raise(SIGPIPE);
  std::_Exit(failed);  // if somebody blocks the signal
}

}  // namespace
}  // namespace tessera::shell

int main(int argc, char** argv) {
  using namespace tessera::shell;
  (void)std::signal(SIGPIPE, SIG_IGN);
  tessera::display::use_utf8();
  try {
    return tessera::telling_failed_allocations([&] { return run(argc, argv); });
  } catch (const OutputClosed&) {
    end_as_unread();
  } catch (const tessera::Error& error) {
    std::cerr << error.kind() << ": " << without_control_characters(error.what()) << '\n';
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << '\n';
  }
  return failed;
}
