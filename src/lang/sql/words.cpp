#include "lang/sql/words.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace tessera::sql {
namespace {

constexpr std::string_view reserved_words[] = {
    "SELECT", "FROM",  "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "UNION",    "JOIN",
    "ON",     "AS",    "AND",   "OR",    "NOT",    "IN",    "IS",    "BETWEEN",  "NULL",
    "TRUE",   "FALSE", "CASE",  "WHEN",  "THEN",   "ELSE",  "END",   "DISTINCT", "WITH",
};
constexpr std::string_view words_after_as[] = {
    "OFFSET", "INNER",  "CROSS",     "LEFT", "RIGHT", "FULL", "OUTER",     "NATURAL", "USING",
    "EXCEPT", "EXISTS", "INTERSECT", "OVER", "LIKE",  "INTO", "RETURNING", "BULK",
};
constexpr std::string_view first_words[] = {
    "SELECT",     "VALUES",      "WITH",     "CREATE",  "INSERT", "COPY",
    "DROP",       "ALTER",       "DESCRIBE", "SHOW",    "SET",    "RESET",
    "CHECKPOINT", "MATERIALIZE", "EXECUTE",  "EXPLAIN", "VACUUM",
};
constexpr std::string_view clause_words[] = {"FROM",  "WHERE", "GROUP", "HAVING",
                                             "UNION", "ORDER", "LIMIT", "OFFSET"};
constexpr std::string_view plain_aggregates[] = {"COUNT", "SUM", "MIN", "MAX", "AVG"};

constexpr std::string_view inner_joins_only =
    "only [INNER] JOIN ... ON condition and CROSS JOIN are supported";
constexpr std::string_view rows_stay =
    "rows cannot be changed or deleted, only added with INSERT and COPY";
constexpr std::string_view no_transactions = "every statement is its own transaction";

constexpr std::pair<std::string_view, std::string_view> remedies[] = {
    {"LEFT", inner_joins_only},
    {"RIGHT", inner_joins_only},
    {"FULL", inner_joins_only},
    {"OUTER", inner_joins_only},
    {"NATURAL", inner_joins_only},
    {"USING", "use JOIN ... ON a.x = b.x"},
    {"EXCEPT", "the only set operation is UNION [ALL]"},
    {"INTERSECT", "the only set operation is UNION [ALL]"},
    {"EXISTS", "join with the subquery instead, or compare (SELECT COUNT(*) ...) with 0"},
    {"OVER", "window functions are not supported"},
    {"LIKE", "compare texts with =, <, IN or BETWEEN"},
    {"INTO", "use INSERT INTO t SELECT ... or CREATE TABLE t AS SELECT ..."},
    {"BULK", "use INSERT INTO t SELECT ... or CREATE TABLE t AS SELECT ..."},
    {"RETURNING", "INSERT returns no rows; SELECT them afterwards"},
    {"RECURSIVE", "use versioned tables for recursion: CREATE TABLE t[i:1...] AS ... t[i-1]"},
    {"||", "texts cannot be concatenated; use OR for a disjunction"},
    {"{", "use ( and )"},
    {"..", "write a range with three dots, as in 0...50"},
    {"UPDATE", rows_stay},
    {"DELETE", rows_stay},
    {"TRUNCATE", rows_stay},
    {"MERGE", rows_stay},
    {"BEGIN", no_transactions},
    {"COMMIT", no_transactions},
    {"ROLLBACK", no_transactions},
    {"IMPORT", "use CREATE TENSOR t FROM 'file' or COPY t FROM 'file'"},
    {"LOAD", "use CREATE TENSOR t FROM 'file' or COPY t FROM 'file'"},
    {"EXPORT", "use COPY t TO 'file'"},
    {"FOR", "put loops inside EXECUTE ( ... )"},
    {"HELP", "use SHOW FUNCTIONS, SHOW TABLES or SHOW SETTINGS"},
    {"USE", "choose the database when the program starts"},
};

char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

bool is_among(std::string_view word, std::span<const std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view other) { return same_word(word, other); });
}

/// How many letters must be put in, left out, replaced or swapped with their neighbour.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> steps(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        steps[i][j] = i + j;
        continue;
      }
      const std::size_t other = upper(a[i - 1]) == upper(b[j - 1]) ? 0 : 1;
      steps[i][j] =
          std::min({steps[i - 1][j] + 1, steps[i][j - 1] + 1, steps[i - 1][j - 1] + other});
      if (i > 1 && j > 1 && upper(a[i - 1]) == upper(b[j - 2]) &&
          upper(a[i - 2]) == upper(b[j - 1]))
        steps[i][j] = std::min(steps[i][j], steps[i - 2][j - 2] + 1);
    }
  return steps[a.size()][b.size()];
}

}  // namespace

bool same_word(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [](char x, char y) { return upper(x) == upper(y); });
}

std::string in_lower_case(std::string_view word) {
  std::string lower(word);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

bool is_reserved(std::string_view word) { return is_among(word, reserved_words); }

bool needs_as(std::string_view word) {
  return is_reserved(word) || is_among(word, words_after_as) || is_among(word, first_words);
}

bool begins_clause(std::string_view word) { return is_among(word, clause_words); }

bool is_plain_aggregate(std::string_view function) { return is_among(function, plain_aggregates); }

std::span<const std::string_view> plain_aggregate_words() { return plain_aggregates; }

std::span<const std::string_view> statement_words() { return first_words; }

std::string_view nearest(std::string_view word, std::span<const std::string_view> known) {
  constexpr std::size_t longest = 32;
  if (word.size() > longest) return {};
  std::string_view best;
  std::size_t least = std::min<std::size_t>(3, word.size() / 2 + 1);
  for (const std::string_view candidate : known)
    if (const std::size_t steps = distance(word, candidate); steps < least) {
      least = steps;
      best = candidate;
    }
  return best;
}

std::string_view remedy_for(std::string_view unexpected) {
  for (const auto& [word, remedy] : remedies)
    if (same_word(word, unexpected)) return remedy;
  return {};
}

}  // namespace tessera::sql
