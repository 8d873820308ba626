#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace tessera::shell {

/// What the command line asks for: it prints, and returns the exit status. Errors are thrown, and
/// `main` prints them.
using Action = std::function<int()>;

// The subcommands, a file each: a function that adds one to the program, and sets `chosen` when it
// is the one that was asked for.
/// What is asked for without a subcommand: statements of SQL.
void add_session(CLI::App& program, Action& chosen);
void add_check(CLI::App& program, Action& chosen);
void add_export(CLI::App& program, Action& chosen);
void add_import(CLI::App& program, Action& chosen);
void add_list(CLI::App& program, Action& chosen);
void add_vacuum(CLI::App& program, Action& chosen);

// Exit statuses; 0 if all is well.
constexpr int failed = 1;  // an error, or damage that was found
constexpr int misused = 2;
constexpr int not_opened = 3;  // by check: there is no such database, or none that can be opened

}  // namespace tessera::shell
