#pragma once

#include <string>
#include <string_view>

#include "base/scanner.h"

namespace tessera {

/// The tokens of key expressions, one at a time. Cheap to copy, so that a parser can look ahead
/// and come back.
class KeyLexer {
 public:
  explicit KeyLexer(std::string_view text);

  const Lexeme& token() const { return token_; }
  bool at(std::string_view text) const {
    return token_.kind != Lexeme::Kind::number && token_.kind != Lexeme::Kind::end &&
           token_.text == text;
  }
  bool take(std::string_view text);
  void expect(std::string_view text);
  void expect_end() const;
  void advance() { token_ = scanner_.next(); }

  /// A ParseError at the current token: "`message`, not 'token'".
  [[noreturn]] void fail(const std::string& message) const;
  [[noreturn]] void fail(const std::string& message, const Lexeme& where) const;

 private:
  std::string_view text_;
  Scanner scanner_;
  Lexeme token_;
};

}  // namespace tessera
