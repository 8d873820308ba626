#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/scanner.h"
#include "lang/location.h"

namespace tessera::lang {

struct Token {
  enum class Kind { word, quoted_name, integer, decimal, string, symbol, end };
  Kind kind = Kind::end;
  std::string_view text = {};  // as it was written, quotes included
  Location location = {};      // the end of a text is where its last token ends
  std::int64_t integer = 0;
  /// Of 9223372036854775808, which is an integer only behind a minus: `integer` is the least one.
  bool wants_minus = false;
  double decimal = 0;

  Location end() const { return {location.offset + static_cast<int>(text.size())}; }
};

/// What a quoted name or a string says: without its quotes, doubled ones inside taken once.
std::string unquoted(const Token& token);

/// Refuses the digits of an integer that does not fit.
[[noreturn]] void fail_too_large(const Token& token);

/// How statements are written, whether they are complete or still being typed.
const Script& script();

/// The tokens of statements, one after the other; what is none is refused. Words and quoted names
/// keep their case; what is a keyword is for the parser to say. Cheap to copy, to look ahead.
class Lexer {
 public:
  explicit Lexer(std::string_view text);

  Token next();
  /// To read on from there.
  void go_to(Location location) { scanner_.go_to(static_cast<std::size_t>(location.offset)); }

 private:
  Token token(Token::Kind kind, std::size_t begin, std::size_t length);
  Token quoted(const Lexeme& found);
  Token number(std::size_t begin);
  Token word(const Lexeme& found);
  Token symbol(const Lexeme& found);

  std::string_view text_;
  Scanner scanner_;
  std::size_t last_end_ = 0;
};

}  // namespace tessera::lang
