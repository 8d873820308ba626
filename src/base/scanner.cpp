#include "base/scanner.h"

#include <algorithm>

namespace tessera {
namespace {

constexpr auto nowhere = std::string_view::npos;

/// Where what is quoted from `begin` on ends, behind its last quote; npos if it does not.
std::size_t end_of_quoted(std::string_view text, std::size_t begin, bool doubles_quotes) {
  const char quote = text[begin];
  for (std::size_t i = text.find(quote, begin + 1); i != nowhere; i = text.find(quote, i + 2))
    if (!doubles_quotes || i + 1 == text.size() || text[i + 1] != quote) return i + 1;
  return nowhere;
}

/// Where the comment ends that begins there; `begin` itself if there is none, npos if it does not
/// end.
std::size_t end_of_comment(std::string_view text, std::size_t begin) {
  const std::string_view opening = text.substr(begin, 2);
  if (opening == "--") return std::min(text.find('\n', begin), text.size());
  if (opening != "/*") return begin;
  const std::size_t closing = text.find("*/", begin + 2);
  return closing == nowhere ? nowhere : closing + 2;
}

}  // namespace

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool Script::begins_word(char c) const {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         (has_foreign_letters && static_cast<unsigned char>(c) >= 0x80);
}

Lexeme Scanner::next() {
  while (position_ < text_.size() && is_space(text_[position_])) ++position_;
  const std::size_t begin = position_;
  const auto upto = [&](Lexeme::Kind kind, std::size_t end) {
    position_ = std::min(end, text_.size());
    return Lexeme{kind, text_.substr(begin, position_ - begin), begin, end != nowhere};
  };
  if (begin == text_.size()) return upto(Lexeme::Kind::end, begin);
  const char first = text_[begin];
  if (script_.has_comments)
    if (const std::size_t end = end_of_comment(text_, begin); end != begin)
      return upto(Lexeme::Kind::comment, end);
  if (script_.quotes.find(first) != nowhere)
    return upto(Lexeme::Kind::quoted, end_of_quoted(text_, begin, script_.doubles_quotes));
  if (script_.continues_word(first)) {
    std::size_t end = begin + 1;
    while (end < text_.size() && script_.continues_word(text_[end])) ++end;
    return upto(is_digit(first) ? Lexeme::Kind::number : Lexeme::Kind::word, end);
  }
  for (const std::string_view symbol : script_.symbols)
    if (text_.substr(begin).starts_with(symbol))
      return upto(Lexeme::Kind::symbol, begin + symbol.size());
  return upto(Lexeme::Kind::symbol, begin + 1);
}

}  // namespace tessera
