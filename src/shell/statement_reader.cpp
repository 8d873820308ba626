#include "shell/statement_reader.h"

#include <utility>

#include "lang/lexer.h"
#include "lang/sql/completeness.h"

namespace tessera::shell {
namespace {

/// Nothing but blanks and comments that have ended.
bool says_nothing(std::string_view text) {
  Scanner scanner(text, lang::script());
  Lexeme found = scanner.next();
  while (found.kind == Lexeme::Kind::comment && found.ended) found = scanner.next();
  return found.kind == Lexeme::Kind::end;
}

}  // namespace

std::optional<Piece> StatementReader::taken() {
  return Piece{std::exchange(pending_, {}), first_line_, false};
}

std::optional<Piece> StatementReader::add(std::string_view line) {
  ++line_;
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (pending_.empty()) {
    first_line_ = line_;
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin != std::string_view::npos && line[begin] == '.')
      return Piece{std::string(line.substr(begin)), line_, true};
  }
  pending_ += line;
  pending_ += '\n';
  // All of what is pending is looked at, so only where this line can have ended a statement, or
  // else a statement of many lines would take the square of them.
  const bool may_end =
      line.find(';') != std::string_view::npos || line.find("*/") != std::string_view::npos;
  if (may_end && sql::is_complete(pending_)) return taken();
  if (pending_.size() == line.size() + 1 || may_end)
    if (says_nothing(pending_)) pending_.clear();
  return std::nullopt;
}

std::optional<Piece> StatementReader::rest() {
  if (says_nothing(pending_)) pending_.clear();
  return pending_.empty() ? std::nullopt : taken();
}

}  // namespace tessera::shell
