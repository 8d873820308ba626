#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::shell {

class Shell;

/// A command of the shell itself, which begins with a dot and is one line.
struct DotCommand {
  std::string_view name;         // ".read"
  std::string_view arguments;    // "FILE"
  std::string_view description;  // for .help
  int least, most;               // how many arguments it takes
  void (*run)(Shell& shell, const std::vector<std::string>& arguments);
};
std::span<const DotCommand> dot_commands();

/// The words of a line; those with blanks in them are quoted, 'so' or "so". TypeError if a quote
/// does not end.
std::vector<std::string> words_of(std::string_view line);

/// TypeError if there is no such command, or it takes other arguments.
void run_dot_command(Shell& shell, std::string_view line);

/// Something in a file failed that a command has read, and was told already.
struct ReadFailed {};

}  // namespace tessera::shell
