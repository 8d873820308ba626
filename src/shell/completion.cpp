#include "shell/completion.h"

#include <algorithm>
#include <array>
#include <optional>

#include "lang/lexer.h"
#include "lang/sql/printer.h"
#include "lang/sql/words.h"
#include "shell/dot_commands.h"
#include "shell/result_format.h"

namespace tessera::shell {
namespace {

using sql::same_word;
using Words = std::vector<std::string>;

// Words of the grammar that stand inside of a statement.
constexpr std::string_view inner_words[] = {
    "ALL",    "ANALYZE", "AND",    "AS",     "ASC",      "BETWEEN", "BIGINT", "BOOLEAN", "BY",
    "CASE",   "CAST",    "CROSS",  "DESC",   "DISTINCT", "DOUBLE",  "ELSE",   "END",     "EXISTS",
    "FALSE",  "FLOAT",   "FOR",    "FORMAT", "FROM",     "GROUP",   "HAVING", "IF",      "IN",
    "INNER",  "INT",     "INTO",   "IS",     "JOB",      "JOIN",    "KEY",    "LIMIT",   "MATRIX",
    "NOT",    "NULL",    "OF",     "OFFSET", "ON",       "OR",      "ORDER",  "PRIMARY", "RENAME",
    "SELECT", "SITES",   "TABLE",  "TENSOR", "TEXT",     "THEN",    "TILE",   "TO",      "TRUE",
    "UNION",  "VALUES",  "VECTOR", "VIEW",   "VIRTUAL",  "WHEN",    "WHERE",
};
constexpr std::string_view aggregates[] = {"AVG", "COUNT", "MAX", "MIN", "SUM"};
constexpr std::string_view shown[] = {"FUNCTIONS", "HISTORY", "JOBS", "SETTINGS",
                                      "TABLES",    "TENSORS", "VIEWS"};
// A table's name comes next.
constexpr std::string_view before_tables[] = {"FROM",     "JOIN", "INTO", "TABLE",      "TENSOR",
                                              "DESCRIBE", "VIEW", "COPY", "MATERIALIZE"};

// The name of a file comes next: of commands, and, in quotes, of statements.
constexpr std::string_view before_files[] = {".read", ".output", ".import", ".open"};
constexpr std::string_view before_quoted_files[] = {"FROM", "TO"};

template <class Range>
bool holds(const Range& words, std::string_view word) {
  return std::any_of(std::begin(words), std::end(words),
                     [&](std::string_view one) { return same_word(one, word); });
}

bool begins_with(std::string_view word, std::string_view beginning) {
  return word.size() >= beginning.size() && same_word(word.substr(0, beginning.size()), beginning);
}

/// The statement that a text ends in.
struct Statement {
  Words words = {};  // and symbols, but for the one that the text ends in
  /// Where the string or the quoted name begins that the text ends in.
  std::optional<std::size_t> open_quote = {};
  bool ends_in_comment = false;
};

Statement statement_at_end(std::string_view text) {
  Statement found;
  Words& words = found.words;
  Scanner scanner(text, lang::script());
  for (Lexeme next = scanner.next(); next.kind != Lexeme::Kind::end; next = scanner.next()) {
    const bool last = next.offset + next.text.size() == text.size();
    if (next.kind == Lexeme::Kind::comment) {
      found.ends_in_comment = last;
    } else if (!next.ended) {
      found.open_quote = next.offset;
    } else if (next.text == ";") {
      words.clear();
    } else if (!last || (next.kind != Lexeme::Kind::word && next.kind != Lexeme::Kind::number)) {
      words.emplace_back(next.text);
    }
  }
  return found;
}

/// The candidates that begin so. Keywords are written in the case of what was typed.
class Candidates {
 public:
  explicit Candidates(std::string_view beginning)
      : beginning_(beginning), lower_(std::any_of(beginning.begin(), beginning.end(), [](char c) {
          return c >= 'a' && c <= 'z';
        })) {}

  template <class Range>
  Candidates& keywords(const Range& words) {
    for (const std::string_view word : words)
      if (begins_with(word, beginning_))
        found_.push_back(lower_ ? sql::in_lower_case(word) : std::string(word));
    return *this;
  }
  template <class Range>
  Candidates& names(const Range& words) {
    for (const auto& word : words)
      if (begins_with(word, beginning_)) found_.push_back(sql::quoted_if_needed(std::string(word)));
    return *this;
  }
  template <class Range>
  Candidates& as_they_are(const Range& words) {
    for (const auto& word : words)
      if (begins_with(word, beginning_)) found_.emplace_back(word);
    return *this;
  }
  Words sorted() {
    std::sort(found_.begin(), found_.end());
    found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
    return std::move(found_);
  }

 private:
  std::string_view beginning_;
  bool lower_;
  Words found_;
};

Words table_names(const KnownNames& names) {
  Words tables;
  for (const auto& [table, columns] : names.tables) tables.push_back(table);
  return tables;
}

/// The columns of the table that a name stands for: its own, or an alias in this statement.
Words columns_of(const std::string& name, const Words& statement, const KnownNames& names) {
  for (const auto& [table, columns] : names.tables) {
    if (same_word(table, name)) return columns;
    for (std::size_t w = 0; w + 1 < statement.size(); ++w) {
      if (!same_word(statement[w], table)) continue;
      const std::size_t alias = same_word(statement[w + 1], "AS") ? w + 2 : w + 1;
      if (alias < statement.size() && same_word(statement[alias], name)) return columns;
    }
  }
  return {};
}

/// Where the word begins that a line ends in, and the quote that it is in, if it is.
std::pair<std::size_t, std::optional<char>> last_word(std::string_view line) {
  std::size_t begin = 0;
  std::optional<char> quote;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (quote) {
      if (c == *quote) quote.reset();
    } else if (c == ' ' || c == '\t') {
      begin = at + 1;
    } else if (at == begin && (c == '\'' || c == '"')) {
      quote = c;
      begin = at + 1;
    }
  }
  return {begin, quote};
}

Completion complete_command(std::string_view line, const KnownNames& names) {
  const std::size_t blank = line.find_first_of(" \t");
  Words commands;
  for (const DotCommand& command : dot_commands()) commands.emplace_back(command.name);
  if (blank == std::string_view::npos) return {0, Candidates(line).as_they_are(commands).sorted()};
  const auto [begin, quote] = last_word(line);
  Candidates candidates(line.substr(begin));
  const std::string_view command = line.substr(0, blank);
  if (same_word(command, ".mode")) candidates.as_they_are(mode_names());
  if (same_word(command, ".timer")) candidates.as_they_are(std::array{"on", "off"});
  if (holds(before_files, command))
    candidates.as_they_are(files_that_begin(std::string(line.substr(begin))));
  if (same_word(command, ".schema")) candidates.as_they_are(table_names(names));
  return {begin, candidates.sorted(), quote.value_or(' ')};
}

/// A file in the quotes of a statement, where a quote that it has is doubled.
Completion complete_quoted_file(std::string_view text, std::size_t quote) {
  const auto with_doubled_quotes = [](const std::string& name) {
    std::string doubled;
    for (const char c : name) doubled += c == '\'' ? std::string("\'\'") : std::string(1, c);
    return doubled;
  };
  std::string name;
  for (std::size_t at = quote + 1; at < text.size(); ++at) {
    name += text[at];
    if (text[at] == '\'') ++at;  // the second of two
  }
  Words files;
  for (const std::string& file : files_that_begin(name)) files.push_back(with_doubled_quotes(file));
  return {quote + 1, std::move(files), '\''};
}

}  // namespace

Completion complete(std::string_view text, const KnownNames& names) {
  if (text.starts_with('.') && text.find('\n') == std::string_view::npos)
    return complete_command(text, names);
  std::size_t begin = text.size();
  while (begin > 0 && lang::script().continues_word(text[begin - 1])) --begin;
  const Statement statement = statement_at_end(text);
  const Words& before = statement.words;
  if (statement.open_quote) {
    const bool is_file = text[*statement.open_quote] == '\'' && !before.empty() &&
                         holds(before_quoted_files, before.back());
    return is_file ? complete_quoted_file(text, *statement.open_quote) : Completion{begin};
  }
  if (statement.ends_in_comment) return {begin};
  Candidates candidates(text.substr(begin));
  if (before.empty()) {
    candidates.keywords(sql::statement_words());
  } else if (before.back() == ".") {
    if (before.size() > 1) candidates.names(columns_of(before[before.size() - 2], before, names));
  } else if (same_word(before.back(), "SHOW")) {
    candidates.keywords(shown);
  } else if (same_word(before.back(), "SET") || same_word(before.back(), "RESET")) {
    candidates.as_they_are(names.settings);
  } else if (holds(before_tables, before.back())) {
    candidates.names(table_names(names));
  } else {
    candidates.keywords(inner_words).keywords(aggregates).as_they_are(names.functions);
    if (same_word(before.back(), "EXPLAIN") || same_word(before.back(), "ANALYZE"))
      candidates.keywords(sql::statement_words());
    candidates.names(table_names(names));
    // Columns of the tables that the statement names, or else, before its FROM, of all.
    const bool named = std::any_of(names.tables.begin(), names.tables.end(),
                                   [&](const auto& table) { return holds(before, table.first); });
    for (const auto& [table, columns] : names.tables)
      if (!named || holds(before, table)) candidates.names(columns);
  }
  return {begin, candidates.sorted()};
}

std::string common_beginning(const std::vector<std::string>& candidates) {
  if (candidates.empty()) return {};
  std::size_t length = candidates[0].size();
  for (const std::string& other : candidates) {
    while (length > other.size() || !same_word(std::string_view(candidates[0]).substr(0, length),
                                               std::string_view(other).substr(0, length)))
      --length;
  }
  return candidates[0].substr(0, length);
}

}  // namespace tessera::shell
