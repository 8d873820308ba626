#include "shell/dot_commands.h"

#include <fmt/format.h>

#include <charconv>

#include "base/check.h"
#include "base/names_text.h"
#include "base/outside.h"
#include "lang/sql/words.h"
#include "shell/interrupt.h"
#include "shell/progress_line.h"
#include "shell/schema_text.h"
#include "shell/shell.h"
#include "store/own_files.h"

namespace tessera::shell {
namespace {

using Arguments = std::vector<std::string>;

std::string usage_of(const DotCommand& command) {
  return fmt::format("{}{}{}", command.name, command.arguments.empty() ? "" : " ",
                     command.arguments);
}

void help(Shell& shell, const Arguments&) {
  for (const DotCommand& command : dot_commands())
    shell.output().stream() << fmt::format("{:<30} {}\n", usage_of(command), command.description);
  shell.output().stream() << "Everything else is SQL and ends with a semicolon.\n";
}

void tables(Shell& shell, const Arguments&) {
  if (!shell.run_text("SHOW TABLES;")) throw ReadFailed{};
}

void schema(Shell& shell, const Arguments& arguments) {
  shell.output().stream() << schema_text(shell.session().database(),
                                         arguments.empty() ? "" : arguments[0]);
}

void mode(Shell& shell, const Arguments& arguments) {
  if (arguments.empty()) {
    shell.output().stream() << name_of(shell.mode) << '\n';
    return;
  }
  const auto named = mode_named(arguments[0]);
  const std::vector<std::string> known(mode_names().begin(), mode_names().end());
  TESSERA_REQUIRE(TypeError, named, "mode \"{}\" not found; {}", arguments[0],
                  instead_of(arguments[0], known));
  shell.mode = *named;
}

void timer(Shell& shell, const Arguments& arguments) {
  const bool on = sql::same_word(arguments[0], "on");
  TESSERA_REQUIRE(TypeError, on || sql::same_word(arguments[0], "off"),
                  ".timer must be on or off, not '{}'", arguments[0]);
  shell.timer = on;
}

void max_rows(Shell& shell, const Arguments& arguments) {
  if (arguments.empty()) {
    shell.output().stream() << shell.max_rows << '\n';
    return;
  }
  const std::string& text = arguments[0];
  std::int64_t rows = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rows);
  TESSERA_REQUIRE(TypeError, error == std::errc() && end == text.data() + text.size() && rows >= 0,
                  ".maxrows must be a number of rows (0: all), not '{}'", text);
  shell.max_rows = rows;
}

void read(Shell& shell, const Arguments& arguments) {
  const ExternalAccess& access = shell.session().external_access();
  if (!access.is_on()) (void)input_file(arguments[0], access);
  if (!shell.run_file(arguments[0])) throw ReadFailed{};
}

void output(Shell& shell, const Arguments& arguments) {
  if (arguments.empty()) return shell.output().to_standard_output();
  store::require_foreign_output(arguments[0], shell.session().external_access());
  shell.output().to_file(arguments[0]);
}

void import(Shell& shell, const Arguments& arguments) {
  const Interrupt interrupt;
  FormatOptions options;
  options.stop = interrupt.token();
  options.external_access = shell.session().external_access();
  FileReport report;
  {
    ProgressLine line;
    options.progress = line.listener();
    report = shell.session().database().import_file(arguments[1], arguments[0], options);
  }
  if (is_for_people(shell.mode))
    shell.output().stream() << fmt::format("{}: read {} rows\n", fmt::join(report.names, ", "),
                                           report.rows);
}

void open(Shell& shell, const Arguments& arguments) {
  constexpr const char* read_only_flag = "--read-only";
  std::string folder;
  bool read_only = false;
  for (const std::string& argument : arguments) {
    if (argument == read_only_flag) {
      read_only = true;
      continue;
    }
    TESSERA_REQUIRE(TypeError, !argument.starts_with("--"), "unknown option {}; {}", argument,
                    instead_of(argument, {read_only_flag}));
    TESSERA_REQUIRE(TypeError, folder.empty(),
                    "unexpected argument \"{}\": .open takes one database", argument);
    folder = argument;
  }
  TESSERA_REQUIRE(TypeError, !read_only || !folder.empty(), "{} requires the name of a database",
                  read_only_flag);
  if (!folder.empty()) require_output(folder, shell.session().external_access());
  shell.open(folder, read_only);
}

void quit(Shell& shell, const Arguments&) { shell.leave(); }

constexpr DotCommand all[] = {
    {".help", "", "show this help", 0, 0, help},
    {".tables", "", "list tables, tensors and views", 0, 0, tables},
    {".schema", "[NAME]", "show the statements that define one object or all", 0, 1, schema},
    {".mode", "[MODE]", "set the output format: table, csv, json or line", 0, 1, mode},
    {".maxrows", "[N]", "set how many rows of a result are shown; 0: all", 0, 1, max_rows},
    {".timer", "on|off", "show the time of each statement", 1, 1, timer},
    {".read", "FILE", "run the statements in a file", 1, 1, read},
    {".output", "[FILE]", "write results to a file; none: to the screen", 0, 1, output},
    {".import", "FILE NAME", "import a tensor from a file under a name", 2, 2, import},
    {".open", "[--read-only] [DATABASE]", "open another database; none: a temporary one", 0, 2,
     open},
    {".quit", "", "quit, as Ctrl-D does", 0, 0, quit},
    {".exit", "", "same as .quit", 0, 0, quit},
};

}  // namespace

std::span<const DotCommand> dot_commands() { return all; }

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < line.size();) {
    const char c = line[at];
    if (c == ' ' || c == '\t') {
      ++at;
      continue;
    }
    const bool quoted = c == '\'' || c == '"';
    const std::size_t begin = quoted ? at + 1 : at;
    const std::size_t end =
        quoted ? line.find(c, begin) : std::min(line.find_first_of(" \t", begin), line.size());
    TESSERA_REQUIRE(TypeError, end != std::string_view::npos, "unterminated quoted string at {}",
                    line.substr(at));
    words.emplace_back(line.substr(begin, end - begin));
    at = quoted ? end + 1 : end;
  }
  return words;
}

void run_dot_command(Shell& shell, std::string_view line) {
  std::vector<std::string> words = words_of(line);
  // As after a statement, a semicolon is no harm.
  if (words.back().ends_with(';')) words.back().pop_back();
  if (words.back().empty()) words.pop_back();
  const std::string name = words.empty() ? "." : words.front();
  std::vector<std::string> names;
  for (const DotCommand& command : all) {
    names.emplace_back(command.name);
    if (!sql::same_word(command.name, name)) continue;
    const int given = static_cast<int>(words.size()) - 1;
    TESSERA_REQUIRE(TypeError, given >= command.least && given <= command.most, "usage: {}",
                    usage_of(command));
    command.run(shell, {words.begin() + 1, words.end()});
    shell.output().finish();
    return;
  }
  throw TypeError(fmt::format(
      "command \"{}\" not found; {}", name,
      similar_names(name, names).empty() ? ".help lists all commands" : instead_of(name, names)));
}

}  // namespace tessera::shell
