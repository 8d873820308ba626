#pragma once

#include <functional>
#include <memory>
#include <string>

#include "shell/completion.h"
#include "shell/history.h"

namespace tessera::shell {

/// Lines that somebody types at a terminal, who can edit them, have words completed by Tab, and go
/// back to earlier ones.
class LineEditor {
 public:
  /// Told the line up to the cursor.
  using Completer = std::function<Completion(std::string_view)>;

  LineEditor(std::string history_path, Completer completer);
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  enum class Outcome { line, cancelled, ended };  // Ctrl-C, Ctrl-D
  /// An earlier entry that was fetched back may have several lines.
  Outcome read(const char* prompt, std::string& line);
  /// Where the prompt is, which is not where rows go if the output is no terminal.
  void say(const std::string& text) const;
  void remember(const std::string& entry) { history_.add(entry); }

 private:
  static LineEditor& of(EditLine* editor);
  static char* prompt_of(EditLine* editor);
  static unsigned char cancel(EditLine* editor, int character);
  static unsigned char suspend(EditLine* editor, int character);
  static unsigned char complete_word(EditLine* editor, int character);
  void list(const std::vector<std::string>& candidates) const;

  InputHistory history_;
  Completer completer_;
  std::string prompt_;
  bool cancelled_ = false;
  std::FILE* screen_;  // the standard error, where the output is no terminal
  std::unique_ptr<EditLine, void (*)(EditLine*)> editor_;
};

}  // namespace tessera::shell
