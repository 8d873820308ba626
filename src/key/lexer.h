#pragma once

#include <string>
#include <string_view>

namespace tessera {

struct KeyToken {
  enum Kind { integer, name, symbol, end };
  Kind kind;
  std::string_view text;
  std::size_t offset;
};

/// The tokens of key expressions, one at a time. Cheap to copy, so that a parser can look ahead
/// and come back.
class KeyLexer {
 public:
  explicit KeyLexer(std::string_view text) : text_(text) { advance(); }

  const KeyToken& token() const { return token_; }
  bool at(std::string_view text) const {
    return token_.kind != KeyToken::integer && token_.kind != KeyToken::end && token_.text == text;
  }
  bool take(std::string_view text);
  void expect(std::string_view text);
  void expect_end() const;
  void advance();

  /// A ParseError at the current token: "`message`, not 'token'".
  [[noreturn]] void fail(const std::string& message) const;
  [[noreturn]] void fail(const std::string& message, const KeyToken& where) const;

 private:
  std::size_t word_length() const;
  std::size_t symbol_length() const;

  std::string_view text_;
  std::size_t position_ = 0;
  KeyToken token_{};
};

}  // namespace tessera
