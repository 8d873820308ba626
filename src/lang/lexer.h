#pragma once

#include <cstdint>
#include <string>
#include <string_view>

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

/// The tokens that all our languages are made of, one after the other. Words and quoted names keep
/// their case; what is a keyword is for each language to say. Cheap to copy, to look ahead.
class Lexer {
 public:
  explicit Lexer(std::string_view text);

  Token next();
  /// To read on from there.
  void go_to(Location location) { position_ = static_cast<std::size_t>(location.offset); }

 private:
  void skip_blanks();
  Token token(Token::Kind kind, std::size_t length);
  Token quoted(Token::Kind kind);
  Token number();
  Token word();
  Token symbol();
  Location here() const { return {static_cast<int>(position_)}; }

  std::string_view text_;
  std::size_t position_ = 0;
  std::size_t last_end_ = 0;
};

/// Where what is quoted from `begin` on ends, behind its last quote; npos if it does not.
std::size_t end_of_quoted(std::string_view text, std::size_t begin);

/// Where the comment ends that begins there, -- to the end of the line or /* */ which does not
/// nest; `begin` itself if there is none, npos if it does not end.
std::size_t end_of_comment(std::string_view text, std::size_t begin);

}  // namespace tessera::lang
