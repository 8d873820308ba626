#include "shell/interactive.h"

#include <csignal>

#include "lang/sql/words.h"
#include "shell/known_names.h"
#include "shell/line_editor.h"

namespace tessera::shell {
namespace {

constexpr const char* first_prompt = "tessera> ";
constexpr const char* next_prompt = "    ...> ";
constexpr std::int64_t rows_at_a_time = 50;

std::string without_end(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

/// Words that are typed to leave, or for help, whatever the program is.
std::string as_command(const std::string& typed) {
  const std::string word = typed.substr(0, typed.find_last_not_of("; \t") + 1);
  for (const char* known : {"help", "exit", "quit"})
    if (sql::same_word(word, known)) return "." + sql::in_lower_case(word);
  return typed;
}

}  // namespace

void run_interactively(Shell& shell) {
  (void)std::signal(SIGINT, SIG_IGN);  // only what runs can be interrupted
  shell.max_rows = rows_at_a_time;
  StatementReader reader;
  LineEditor editor(InputHistory::default_path(), [&](std::string_view before) {
    const std::string& pending = reader.pending();
    Completion completion = complete(pending + std::string(before), known_names(shell.session()));
    completion.begin -= std::min(completion.begin, pending.size());
    return completion;
  });
  editor.say("Tessera " TESSERA_VERSION
             ": statements end with a semicolon, .help lists commands, Ctrl-D quits\n");
  std::string typed;
  while (!shell.wants_to_leave()) {
    const auto outcome = editor.read(reader.is_waiting() ? next_prompt : first_prompt, typed);
    if (outcome == LineEditor::Outcome::ended) {
      editor.say("\n");
      break;
    }
    if (outcome == LineEditor::Outcome::cancelled) {
      reader.forget();
      continue;
    }
    if (!reader.is_waiting()) typed = as_command(typed);
    for (std::size_t at = 0; at <= typed.size() && !shell.wants_to_leave();) {
      const std::size_t end = std::min(typed.find('\n', at), typed.size());
      if (const auto piece = reader.add(std::string_view(typed).substr(at, end - at))) {
        editor.remember(without_end(piece->text));
        shell.run(*piece, {});
      }
      at = end + 1;
    }
  }
}

}  // namespace tessera::shell
