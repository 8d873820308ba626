#include "lang/sql/completeness.h"

#include "lang/lexer.h"

namespace tessera::sql {

// Not with the lexer itself: what it refuses is complete too, so that its error is told.
bool is_complete(std::string_view text) {
  bool ended = false;
  int open = 0;
  Scanner scanner(text, lang::script());
  for (Lexeme found = scanner.next(); found.kind != Lexeme::Kind::end; found = scanner.next()) {
    if (!found.ended) return false;
    if (found.kind == Lexeme::Kind::comment) continue;
    if (found.text == "(" || found.text == "{") ++open;
    if ((found.text == ")" || found.text == "}") && open > 0) --open;
    ended = found.text == ";" && open == 0;
  }
  return ended;
}

}  // namespace tessera::sql
