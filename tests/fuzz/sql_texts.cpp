#include "fuzz/sql_texts.h"

#include <cctype>

#include "fuzz/sql_seeds.h"
#include "lang/sql/printer.h"
#include "support/random_queries.h"
#include "support/random_sql.h"

namespace tessera::sql {
namespace {

std::size_t below(Random& random, std::size_t limit) {
  return limit == 0 ? 0 : static_cast<std::size_t>(random.bits() % limit);
}

/// Numbers at some edge, and such as make something very large of what was small.
const std::vector<std::string> numbers = {"0",
                                          "1",
                                          "-1",
                                          "2",
                                          "3",
                                          "7",
                                          "63",
                                          "100",
                                          "1000",
                                          "65536",
                                          "1e6",
                                          "1e308",
                                          "0.5",
                                          "1e999",
                                          "-0.0",
                                          "1000000",
                                          "2147483648",
                                          "99999999999",
                                          "1e19",
                                          "4.0e-9",
                                          "32",
                                          "400",
                                          "4611686018427387904",
                                          "9223372036854775807"};

struct Word {
  std::size_t at, length;
};

/// Runs of letters and digits, of one kind.
std::vector<Word> words_of(const std::string& text, bool of_digits) {
  const auto is_part = [&](std::size_t i) {
    const auto c = static_cast<unsigned char>(text[i]);
    return std::isalnum(c) || c == '_';
  };
  std::vector<Word> found;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && is_part(end)) ++end;
    const bool is_number = end > i && std::isdigit(static_cast<unsigned char>(text[i])) != 0;
    if (end > i && is_number == of_digits) found.push_back({i, end - i});
    i = std::max(end, i + 1);
  }
  return found;
}

std::string random_bytes(Random& random) {
  std::string text;
  for (std::size_t i = below(random, 60); i > 0; --i) text += static_cast<char>(random.bits());
  return text;
}

std::string random_tokens(Random& random) {
  std::string text;
  for (std::size_t i = below(random, 40); i > 0; --i) {
    text += random.pick(token_seeds());
    if (random.chance(0.8)) text += ' ';
  }
  return text;
}

}  // namespace

SqlTexts::SqlTexts(Random& random, std::vector<std::string> corpus)
    : random_(random), corpus_(std::move(corpus)) {
  for (std::string_view seed : statement_seeds()) corpus_.emplace_back(seed);
}

std::string SqlTexts::statement() {
  const std::int64_t kind = random_.between(0, 9);
  if (kind == 0) return to_string(*random_statement(random_));
  if (kind < 3) {
    std::mt19937 chance(static_cast<unsigned>(random_.bits()));
    return testing::random_query(chance);
  }
  return random_.pick(corpus_);
}

void SqlTexts::mutate(std::string& text) {
  const std::size_t at = below(random_, text.size() + 1);
  const std::size_t length = std::min(text.size() - at, below(random_, 12));
  switch (random_.between(0, 14)) {
    case 0:
    case 1: text.insert(at, random_.pick(token_seeds())); break;
    case 2: text.replace(at, length, random_.pick(token_seeds())); break;
    case 3: text.erase(at, length); break;
    case 4: text.insert(below(random_, text.size() + 1), text.substr(at, length)); break;
    case 5:
      if (at < text.size()) text[at] = static_cast<char>(random_.bits());
      break;
    case 6: text.resize(at); break;
    case 7: {  // a piece of another statement
      const std::string other = statement();
      const std::size_t from = below(random_, other.size() + 1);
      text.insert(at, other.substr(from, below(random_, 40)));
      break;
    }
    case 8:  // the same many times, so that it nests or chains
      if (text.size() < 20000) {
        const std::string piece = text.substr(at, length);
        for (std::size_t i = below(random_, 600); i > 0; --i) text.insert(at, piece);
      }
      break;
    case 9: text += "; " + statement(); break;
    case 10:
    case 11:
    case 12: {  // another number
      const auto words = words_of(text, true);
      if (words.empty()) break;
      const Word word = random_.pick(words);
      text.replace(word.at, word.length, random_.pick(numbers));
      break;
    }
    default: {  // another word, of this statement or of another one
      const std::string other = random_.chance(0.5) ? text : statement();
      const auto words = words_of(text, false), others = words_of(other, false);
      if (words.empty() || others.empty()) break;
      const Word word = random_.pick(words), by = random_.pick(others);
      text.replace(word.at, word.length, other.substr(by.at, by.length));
    }
  }
}

std::string SqlTexts::next() {
  const std::int64_t kind = random_.between(0, 19);
  if (kind == 0) return random_bytes(random_);
  if (kind < 3) return random_tokens(random_);
  std::string text = statement();
  for (std::size_t i = below(random_, 4); i > 0; --i) mutate(text);
  return text;
}

}  // namespace tessera::sql
