#include "shell/shell.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

#include "base/check.h"
#include "shell/dot_commands.h"
#include "shell/interrupt.h"
#include "shell/opened_database.h"
#include "shell/terminal.h"

namespace tessera::shell {
namespace {

constexpr int deepest = 32;         // a file that reads itself ends somewhere
constexpr int ctrl_c_to_leave = 3;  // impatience must not cost what a session has

/// While it lives, what a session runs can be stopped, and says how far it is.
class Watch {
 public:
  Watch(RunOptions& options, ProgressBar& bar)
      : options_(options), bar_(bar), interrupt_(ctrl_c_to_leave) {
    options_.stop = interrupt_.token();
    options_.progress = bar_.listener();
    bar_.restart();
  }
  ~Watch() {
    bar_.hide();
    options_.stop = {};
    options_.progress = {};
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  std::stop_token stop() const { return interrupt_.token(); }

 private:
  RunOptions& options_;
  ProgressBar& bar_;
  Interrupt interrupt_;
};

/// The lines of a plan are shown as they are: a frame around them, or an end cut off, helps nobody.
/// A plan in a format of its own is one document for programs too, but JSON has no place for a
/// document that is not JSON.
bool is_plain_text(const StatementResult& result, Mode mode) {
  const bool is_plan = result.command.starts_with("EXPLAIN") && result.table->columns().size() == 1;
  if (!is_plan || is_for_people(mode)) return is_plan;
  return mode == Mode::json ? result.document == "json" : !result.document.empty();
}

std::string text_of(const ResultTable& lines) {
  std::string text;
  for (std::int64_t row = 0; row < lines.rows(); ++row) text += lines.text(row, 0) + '\n';
  return text;
}

std::unique_ptr<Session> session_on(const std::string& folder, const DatabaseOptions& opening,
                                    const SessionOptions& options) {
  return std::make_unique<Session>(folder.empty() ? Database::temporary({}, options.run.engine)
                                                  : opened_database(folder, opening),
                                   options);
}

}  // namespace

void Shell::show(const StatementResult& result, const View& view) {
  std::ostream& out = output_.stream();
  if (result.table && is_plain_text(result, mode)) {
    out << text_of(*result.table);
  } else if (result.table && mode == Mode::json && !result.document.empty()) {
    write_json_document(out, result.document, text_of(*result.table));
  } else if (result.table) {
    write_rows(out, mode, *result.table, view);
  } else if (is_for_people(mode) && !result.message.empty()) {
    out << result.message << '\n';
  }
  output_.finish();
  // Beside the results, which may be a file that COPY writes to the standard output. Results inside
  // of a statement have no time of their own.
  if (timer && result.seconds > 0 && !output_.is_muted())
    std::cerr << fmt::format("{}: {:.3f} s\n", result.command, result.seconds);
}

void Shell::run_statements(const std::string& text) {
  const Watch watch(session_->run_options(), bar_);
  const View view{.width = output_.width(),
                  .max_rows = max_rows,
                  .colour = output_.colours(),
                  .stop = watch.stop(),
                  .more_rows = ": .maxrows",
                  .more_columns = ": .mode line has all"};
  session_->execute(text, [&](const StatementResult& result) {
    bar_.hide();
    show(result, view);
    bar_.restart();
  });
}

void Shell::tell(const std::string& error) {
  output_.finish();  // what was there before the error is seen before it
  std::cerr << error << std::flush;
}

bool Shell::run(const Piece& piece, const Origin& origin) {
  const bool colour = shows_colours(STDERR_FILENO);
  try {
    if (piece.is_command)
      run_dot_command(*this, piece.text);
    else
      run_statements(piece.text);
    return true;
  } catch (const StatementError& error) {
    tell(display::error_text(error, piece.text, origin, terminal_width(STDERR_FILENO), colour));
  } catch (const ReadFailed&) {
    // It was told where it happened.
  } catch (const Error& error) {
    const std::string where =
        origin.file.empty() ? "" : fmt::format("{}:{}: {}\n", origin.file, origin.line, piece.text);
    tell(display::error_text(error, colour) + where);
  }
  return false;
}

bool Shell::run_lines(std::istream& lines, const std::string& name) {
  StatementReader reader;
  const auto run_piece = [&](const std::optional<Piece>& piece) {
    return !piece || run(*piece, {name, piece->line});
  };
  for (std::string line; !leaves_ && std::getline(lines, line);)
    if (!run_piece(reader.add(line))) return false;
  TESSERA_REQUIRE(IoError, !lines.bad(), "cannot read {}",
                  name.empty() ? "the standard input" : name);
  return leaves_ || run_piece(reader.rest());
}

bool Shell::run_text(std::string_view text) {
  std::istringstream lines{std::string(text)};
  return run_lines(lines, "");
}

bool Shell::run_file(const std::string& path) {
  if (path == "-") return run_lines(std::cin, "");
  // A folder can be opened, but not read.
  std::ifstream file(path, std::ios::binary);
  if (!file || file.peek() == std::ifstream::traits_type::eof()) {
    const bool empty = file.is_open() && !file.bad();
    TESSERA_REQUIRE(IoError, empty, "cannot {} {}: {}", file.is_open() ? "read" : "open", path,
                    std::strerror(errno));
    return true;
  }
  TESSERA_REQUIRE(TypeError, depth_ < deepest,
                  "cannot read {}: .read is nested more than {} levels deep", path, deepest);
  ++depth_;
  const bool succeeded = run_lines(file, path);
  --depth_;
  return succeeded;
}

Shell::Shell(const std::string& folder, const DatabaseOptions& opening,
             const SessionOptions& options)
    : opening_(opening), session_(session_on(folder, opening, options)) {}

void Shell::open(const std::string& folder, bool read_only) {
  DatabaseOptions opening = opening_;
  opening.read_only = opening.read_only || read_only;
  session_ = session_on(folder, opening, session_->options());
}

}  // namespace tessera::shell
