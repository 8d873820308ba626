#pragma once

#include <memory>
#include <string>

#include "display/error_text.h"
#include "shell/output.h"
#include "shell/progress_bar.h"
#include "shell/result_format.h"
#include "shell/statement_reader.h"
#include "tessera/session.h"

namespace tessera::shell {

using display::Origin;

/// A session with the ways in which its results are shown. What fails is told on the standard
/// error.
class Shell {
 public:
  /// On the database of a folder; none: a temporary one.
  explicit Shell(const std::string& folder = "", const DatabaseOptions& opening = {},
                 const SessionOptions& options = {});

  /// Runs statements or a command; `origin` is where its text stands. False if there was an error.
  bool run(const Piece& piece, const Origin& origin);
  /// Runs all that a file holds, until something fails; "-" is the standard input.
  bool run_file(const std::string& path);
  /// Runs all of a text, until something fails.
  bool run_text(std::string_view text);

  /// Another database, with the same settings; for reading only, if that or the program says so.
  void open(const std::string& folder, bool read_only);
  Session& session() { return *session_; }
  Output& output() { return output_; }
  bool wants_to_leave() const { return leaves_; }
  void leave() { leaves_ = true; }

  Mode mode = Mode::table;
  bool timer = false;
  std::int64_t max_rows = 0;  // that are shown of a result; 0: all

 private:
  void run_statements(const std::string& text);
  void show(const StatementResult& result, const View& view);
  void tell(const std::string& error);
  bool run_lines(std::istream& lines, const std::string& name);

  DatabaseOptions opening_;  // of every database that is opened
  std::unique_ptr<Session> session_;
  Output output_;
  ProgressBar bar_;
  bool leaves_ = false;
  int depth_ = 0;  // of files that read files
};

}  // namespace tessera::shell
