#include "shell/line_editor.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>

#include "display/display_width.h"
#include "shell/terminal.h"
#include "tessera/error.h"

namespace tessera::shell {
namespace {

constexpr std::size_t most_listed = 100;

}  // namespace

LineEditor::LineEditor(std::string history_path, Completer completer)
    : history_(std::move(history_path)),
      completer_(std::move(completer)),
      screen_(is_terminal(STDOUT_FILENO) ? stdout : stderr),
      editor_(el_init("tessera", stdin, screen_, stderr), el_end) {
  if (!editor_) throw IoError("cannot edit lines in this terminal");
  EditLine* editor = editor_.get();
  el_set(editor, EL_CLIENTDATA, this);
  el_set(editor, EL_PROMPT, prompt_of);
  el_set(editor, EL_EDITOR, "emacs");
  el_set(editor, EL_HIST, history, history_.get());
  el_set(editor, EL_ADDFN, "tessera-cancel", "Forget what is typed", cancel);
  el_set(editor, EL_ADDFN, "tessera-suspend", "Stop until fg", suspend);
  el_set(editor, EL_ADDFN, "tessera-complete", "Complete the word", complete_word);
  el_set(editor, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  el_set(editor, EL_BIND, "\\e[1;5C", "em-next-word", nullptr);  // Ctrl and an arrow
  el_set(editor, EL_BIND, "\\e[1;5D", "ed-prev-word", nullptr);
  el_set(editor, EL_BIND, "^I", "tessera-complete", nullptr);
  el_source(editor, nullptr);  // what somebody has in ~/.editrc
  // While a line is edited Ctrl-C and Ctrl-Z are keys like others, and no signals.
  el_set(editor, EL_SETTY, "-d", "-isig", nullptr);
  el_set(editor, EL_BIND, "^C", "tessera-cancel", nullptr);
  el_set(editor, EL_BIND, "^Z", "tessera-suspend", nullptr);
}

LineEditor& LineEditor::of(EditLine* editor) {
  LineEditor* self = nullptr;
  el_get(editor, EL_CLIENTDATA, &self);
  return *self;
}

char* LineEditor::prompt_of(EditLine* editor) { return of(editor).prompt_.data(); }

unsigned char LineEditor::cancel(EditLine* editor, int) {
  of(editor).cancelled_ = true;
  el_push(editor, "\n");  // the line ends as any other, below what is typed
  return CC_NORM;
}

unsigned char LineEditor::suspend(EditLine* editor, int) {
  el_set(editor, EL_PREP_TERM, 0);
  (void)std::raise(SIGTSTP);
  el_set(editor, EL_PREP_TERM, 1);
  return CC_REDISPLAY;
}

void LineEditor::list(const std::vector<std::string>& candidates) const {
  int widest = 0;
  for (const std::string& one : candidates) widest = std::max(widest, display::display_width(one));
  const int width = std::max(1, terminal_width(::fileno(screen_)));
  const std::size_t in_a_row = static_cast<std::size_t>(std::max(1, width / (widest + 2)));
  const std::size_t listed = std::min(candidates.size(), most_listed);
  std::string text = "\n";
  for (std::size_t i = 0; i < listed; ++i) {
    const bool last = (i + 1) % in_a_row == 0 || i + 1 == listed;
    text += last ? candidates[i] + "\n"
                 : display::padded(candidates[i], widest + 2, display::Align::left);
  }
  if (listed < candidates.size())
    text += "and " + std::to_string(candidates.size() - listed) + " more\n";
  say(text);
}

void LineEditor::say(const std::string& text) const {
  (void)std::fputs(text.c_str(), screen_);
  (void)std::fflush(screen_);
}

unsigned char LineEditor::complete_word(EditLine* editor, int) {
  const LineEditor& self = of(editor);
  const LineInfo* line = el_line(editor);
  const std::string_view before(line->buffer,
                                static_cast<std::size_t>(line->cursor - line->buffer));
  Completion completion;
  try {
    completion = self.completer_(before);
  } catch (const std::exception&) {
    return CC_ERROR;  // a database that cannot be read says so when a statement reads it
  }
  if (completion.candidates.empty()) return CC_ERROR;
  const std::string_view word = before.substr(std::min(completion.begin, before.size()));
  std::string longer = common_beginning(completion.candidates);
  const bool unique = completion.candidates.size() == 1;
  if (unique && !longer.ends_with('/')) longer += completion.end;
  if (longer.size() > word.size()) {
    el_deletestr(editor, display::display_width(word));
    el_insertstr(editor, longer.c_str());
    return CC_REFRESH;
  }
  self.list(completion.candidates);
  return CC_REDISPLAY;
}

LineEditor::Outcome LineEditor::read(const char* prompt, std::string& line) {
  prompt_ = prompt;
  cancelled_ = false;
  el_resize(editor_.get());  // the window may have changed while something else ran
  // Before the prompt is there: what comes right after it would be seen twice.
  el_set(editor_.get(), EL_PREP_TERM, 1);
  int length = 0;
  const char* text = el_gets(editor_.get(), &length);
  if (cancelled_) return Outcome::cancelled;
  if (text == nullptr || length <= 0) return Outcome::ended;
  line.assign(text, static_cast<std::size_t>(length));
  if (line.ends_with('\n')) line.pop_back();
  return Outcome::line;
}

}  // namespace tessera::shell
