#include "lang/sql/completeness.h"

#include "lang/lexer.h"

namespace tessera::sql {

// Not with the lexer itself: what it refuses is complete too, so that its error is told.
bool is_complete(std::string_view text) {
  bool ended = false;
  int open = 0;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    const std::size_t after_comment = lang::end_of_comment(text, i);
    if (after_comment == std::string_view::npos) return false;
    if (after_comment != i) {
      i = after_comment;
    } else if (c == '\'' || c == '"') {
      i = lang::end_of_quoted(text, i);
      if (i == std::string_view::npos) return false;
      ended = false;
    } else {
      if (c == '(') ++open;
      if (c == ')' && open > 0) --open;
      const bool blank = c == ' ' || (c >= '\t' && c <= '\r');
      if (!blank) ended = c == ';' && open == 0;
      ++i;
    }
  }
  return ended;
}

}  // namespace tessera::sql
