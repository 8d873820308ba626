#include <algorithm>

#include "lang/sql/printer.h"
#include "lang/sql/printing.h"
#include "lang/sql/words.h"

namespace tessera::sql {
namespace {

/// Words that are names almost everywhere, but keywords in some place where a name can stand.
constexpr std::string_view sometimes_keywords[] = {"CAST", "VALUES",  "PRIMARY",
                                                   "IF",   "DEFAULT", "RECURSIVE"};

bool is_plain(const std::string& name) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto is_plain_character = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
  };
  return !name.empty() && !is_digit(name[0]) &&
         std::all_of(name.begin(), name.end(), is_plain_character) && !is_reserved(name) &&
         std::none_of(std::begin(sometimes_keywords), std::end(sometimes_keywords),
                      [&](std::string_view word) { return same_word(word, name); });
}

std::string in_quotes(const std::string& content, char quote) {
  std::string text(1, quote);
  for (const char c : content) text.append(c == quote ? 2 : 1, c);
  return text + quote;
}

}  // namespace

std::string quoted_if_needed(const std::string& name) {
  return is_plain(name) ? name : in_quotes(name, '"');
}

void Printer::add_name(const std::string& name) { add(quoted_if_needed(name)); }

void Printer::add_string(const std::string& content) { add(in_quotes(content, '\'')); }

void Printer::add_names(const std::vector<std::string>& names) {
  add("(");
  add_list(names, [&](const std::string& name) { add_name(name); });
  add(")");
}

}  // namespace tessera::sql
