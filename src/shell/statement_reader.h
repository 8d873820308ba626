#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tessera::shell {

/// What can be run: statements, or a command that begins with a dot.
struct Piece {
  std::string text;
  int line = 1;  // of what is read, where it begins
  bool is_command = false;
};

/// Cuts what is typed or read, line by line, into pieces. A command is one line, where no statement
/// is under way; statements go on until a line ends one.
class StatementReader {
 public:
  /// What is complete with this line, which comes without its end.
  std::optional<Piece> add(std::string_view line);
  /// What is left when no more lines come: its last semicolon may be missing.
  std::optional<Piece> rest();
  /// Whether a statement is under way.
  bool is_waiting() const { return !pending_.empty(); }
  const std::string& pending() const { return pending_; }
  void forget() { pending_.clear(); }

 private:
  std::optional<Piece> taken();
  std::string pending_;
  int first_line_ = 1, line_ = 0;
};

}  // namespace tessera::shell
