#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <iostream>

#include "base/bytes.h"
#include "shell/commands.h"
#include "shell/interactive.h"
#include "shell/terminal.h"
#include "tessera/trace.h"

namespace tessera::shell {
namespace {

struct SessionArguments {
  std::string folder, format = "table", memory_limit, external_access = "on", trace;
  bool read_only = false;
  double lock_seconds = DatabaseOptions().lock_seconds;
  std::vector<std::string> texts, files;
  int threads = 0, sites = 1;
  double cluster_timeout = 0;
  struct Input {
    bool is_file;
    std::string what;
  };
  std::vector<Input> inputs = {};  // texts and files, in the order they were given
};

/// What runs, in order: the texts and files of the command line, or else the standard input.
int run_inputs(Shell& shell, const SessionArguments& arguments) {
  for (const SessionArguments::Input& input : arguments.inputs) {
    const bool succeeded = input.is_file ? shell.run_file(input.what) : shell.run_text(input.what);
    if (!succeeded) return failed;
    if (shell.wants_to_leave()) break;
  }
  if (arguments.inputs.empty()) {
    if (!is_terminal(STDIN_FILENO)) return shell.run_file("-") ? 0 : failed;
    run_interactively(shell);
  }
  shell.output().to_standard_output();
  return 0;
}

int run(const SessionArguments& arguments) {
  SessionOptions options;
  options.run.threads = arguments.threads;
  options.run.sites = arguments.sites;
  options.lock_seconds = arguments.lock_seconds;
  if (!arguments.memory_limit.empty())
    options.run.memory_limit = parse_memory_limit(arguments.memory_limit);
  options.external_access = ExternalAccess::parse(arguments.external_access);
  // Also for how long to wait until the others have come.
  if (arguments.cluster_timeout > 0)
    ::setenv("TESSERA_CLUSTER_TIMEOUT", fmt::format("{}", arguments.cluster_timeout).c_str(), 1);
  const ClusterInfo cluster = cluster_info(options.run);
  if (cluster.size > 1 && arguments.inputs.empty())
    throw TypeError(
        "the processes of a cluster cannot share the standard input: give statements with -c or "
        "-f");
  std::shared_ptr<Trace> trace;
  if (!arguments.trace.empty())
    trace = std::make_shared<Trace>(arguments.trace, options.run, options.external_access);
  options.run.observer = trace;
  Shell shell(arguments.folder,
              {.read_only = arguments.read_only, .lock_seconds = arguments.lock_seconds}, options);
  shell.mode = *mode_named(arguments.format);
  if (cluster.rank != 0) shell.output().mute();  // the first process speaks for all
  const int status = run_inputs(shell, arguments);
  if (trace) trace->finish();
  return status;
}

std::string check_memory_limit(const std::string& text) {
  try {
    (void)parse_memory_limit(text);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

/// What is no number at all, the parser of the command line refuses.
std::string check_sites(const std::string& text) {
  std::int64_t sites = 1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), sites);
  return error == std::errc::invalid_argument ? "" : sites_refused(sites);
}

}  // namespace

void add_session(CLI::App& program, Action& chosen) {
  auto arguments = std::make_shared<SessionArguments>();
  CLI::Option* database =
      program.add_option("DATABASE", arguments->folder,
                         "The database folder, created if it does not exist; none: a temporary "
                         "database. Write ./check for a folder named like a subcommand");
  CLI::Option* text =
      program.add_option("-c,--command", arguments->texts, "Run these statements and exit")
          ->type_name("STATEMENTS")
          ->expected(1)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
          ->allow_extra_args(false);
  CLI::Option* file = program
                          .add_option("-f,--file", arguments->files,
                                      "Run the statements in a file and exit; -: standard input")
                          ->type_name("FILE")
                          ->expected(1)
                          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
                          ->allow_extra_args(false);
  program.add_option("--format", arguments->format, "The output format: table, csv, json, line")
      ->type_name("FORMAT")
      ->check([](const std::string& name) {
        return mode_named(name) ? "" : "format \"" + name + "\" not found";
      });
  program
      .add_flag("--read-only", arguments->read_only,
                "Open databases read-only; statements that write fail")
      ->needs(database);
  program
      .add_option("--lock-seconds", arguments->lock_seconds,
                  "How long a writing statement waits for another writer; default 10")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.0, 1e9));
  program
      .add_option("--memory-limit", arguments->memory_limit,
                  "The memory limit of a statement, such as 2GB or 512MiB")
      ->type_name("SIZE")
      ->check(check_memory_limit);
  program
      .add_option("--external-access", arguments->external_access,
                  "Files and servers that statements may access: on, off, or folders such as "
                  "/data:/results, for files in these and no servers")
      ->type_name("WHAT");
  program.add_option("--threads", arguments->threads, "The number of threads; 0: all cores")
      ->type_name("N")
      ->check(CLI::Range(0, 4096));
  program
      .add_option(
          "--sites", arguments->sites,
          fmt::format("The number of logical sites that plans are spread over, 1 to {}", max_sites))
      ->type_name("N")
      ->check(check_sites);
  program
      .add_option("--trace", arguments->trace,
                  "Write a trace file for Perfetto and chrome://tracing")
      ->type_name("FILE");
  program
      .add_option("--cluster-timeout", arguments->cluster_timeout,
                  "Seconds without a message after which another process of the cluster counts "
                  "as lost; default 300")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.1, 1e8));
  program.footer(
      "-c and -f can be repeated and run in the order given. Without them, statements are read "
      "from\nstandard input; a terminal gets a prompt, where .help lists the shell commands.\n\n"
      "Exit status: 0 on success; 1 if a statement fails, after which nothing else runs; 2 for "
      "wrong\nusage.");
  program.final_callback([&program, &chosen, arguments, text, file] {
    if (!program.get_subcommands().empty()) return;
    std::size_t texts = 0, files = 0;
    for (const CLI::Option* option : program.parse_order()) {
      if (option == text) arguments->inputs.push_back({false, arguments->texts.at(texts++)});
      if (option == file) arguments->inputs.push_back({true, arguments->files.at(files++)});
    }
    chosen = [arguments] { return run(*arguments); };
  });
}

}  // namespace tessera::shell
