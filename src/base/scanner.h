#pragma once

#include <cstddef>
#include <span>
#include <string_view>

// Texts in pieces, for all that we read: statements of SQL, functions of keys, calls of kernels,
// and what a shell has of a statement that is still being typed. Each language says how it is
// written; nothing is refused here.

namespace tessera {

bool is_space(char c);
bool is_digit(char c);

/// How the texts of a language are written.
struct Script {
  std::span<const std::string_view> symbols = {};  // of several characters, longer ones first
  std::string_view quotes = {};                    // what quoted text begins and ends with
  bool doubles_quotes = false;                     // a quote inside of quoted text is written twice
  bool has_comments = false;         // -- to the end of the line, and /* */, which does not nest
  bool has_foreign_letters = false;  // beyond ASCII; otherwise their bytes are symbols

  bool begins_word(char c) const;
  bool continues_word(char c) const { return begins_word(c) || is_digit(c); }
};

struct Lexeme {
  /// A number is a word that begins with a digit. What is nothing else is a symbol.
  enum class Kind { word, number, quoted, comment, symbol, end };
  Kind kind = Kind::end;
  std::string_view text = {};  // as it was written, quotes included
  std::size_t offset = 0;
  bool ended = true;  // of what is quoted and of comments: their end is in the text
};

/// The pieces of a text, one after the other; blanks are left out. Cheap to copy, to look ahead.
class Scanner {
 public:
  Scanner(std::string_view text, const Script& script) : text_(text), script_(script) {}

  Lexeme next();
  /// To read on from there.
  void go_to(std::size_t offset) { position_ = offset; }

 private:
  std::string_view text_;
  Script script_;
  std::size_t position_ = 0;
};

}  // namespace tessera
