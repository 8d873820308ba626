#pragma once

#include <memory>
#include <string>

#include "display/error_text.h"
#include "shell/output.h"
#include "shell/result_format.h"
#include "shell/statement_reader.h"
#include "tessera/session.h"

namespace tessera::shell {

using display::Origin;

/// A session with the ways in which its results are shown. What fails is told on the standard
/// error.
class Shell {
 public:
  explicit Shell(std::unique_ptr<Session> session) : session_(std::move(session)) {}

  /// Runs statements or a command; `origin` is where its text stands. False if there was an error.
  bool run(const Piece& piece, const Origin& origin);
  /// Runs all that a file holds, until something fails; "-" is the standard input.
  bool run_file(const std::string& path);
  /// Runs all of a text, until something fails.
  bool run_text(std::string_view text);

  void open(const std::string& folder);  // another database; none: a temporary one
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

  std::unique_ptr<Session> session_;
  Output output_;
  bool leaves_ = false;
  int depth_ = 0;  // of files that read files
};

}  // namespace tessera::shell
