// Random bytes, random tokens and mutated statements, handed to SQL:
//   sql_fuzz [--seconds N] [--seed S] [--cases N]
// Each is either read, and then what is printed of it is read again as the same; or refused with an
// error that has a place inside of the text. What is not so is printed, with the text.

#include <fmt/format.h>

#include <charconv>
#include <chrono>

#include "fuzz/sql_seeds.h"
#include "lang/characters.h"
#include "lang/sql/completeness.h"
#include "lang/sql/parser.h"
#include "lang/sql/printer.h"
#include "support/random_sql.h"
#include "support/sql_trees.h"

namespace tessera::sql {
namespace {

struct FuzzOptions {
  double seconds = 10;
  std::uint64_t seed = 0;
  std::int64_t cases = 0;  // 0: as many as the time allows
};

std::size_t below(Random& random, std::size_t limit) {
  return limit == 0 ? 0 : static_cast<std::size_t>(random.bits() % limit);
}

// ------------------------------------------------------------------------------- The texts

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

/// A statement of the corpus, or one as the printer writes it.
std::string valid_statement(Random& random) {
  return random.chance(0.7) ? std::string(random.pick(statement_seeds()))
                            : to_string(*random_statement(random));
}

void mutate(std::string& text, Random& random) {
  const std::size_t at = below(random, text.size() + 1);
  const std::size_t length = std::min(text.size() - at, below(random, 12));
  switch (random.between(0, 9)) {
    case 0:
    case 1: text.insert(at, random.pick(token_seeds())); break;
    case 2: text.replace(at, length, random.pick(token_seeds())); break;
    case 3: text.erase(at, length); break;
    case 4: text.insert(below(random, text.size() + 1), text.substr(at, length)); break;
    case 5:
      if (at < text.size()) text[at] = static_cast<char>(random.bits());
      break;
    case 6: text.resize(at); break;
    case 7: {  // a piece of another statement
      const std::string other = valid_statement(random);
      const std::size_t from = below(random, other.size() + 1);
      text.insert(at, other.substr(from, below(random, 40)));
      break;
    }
    case 8:  // the same many times, so that it nests or chains
      if (text.size() < 20000) {
        const std::string piece = text.substr(at, length);
        for (std::size_t i = below(random, 600); i > 0; --i) text.insert(at, piece);
      }
      break;
    default: text += "; " + valid_statement(random);
  }
}

std::string random_text(Random& random) {
  const std::int64_t kind = random.between(0, 9);
  if (kind == 0) return random_bytes(random);
  if (kind < 3) return random_tokens(random);
  std::string text = valid_statement(random);
  for (std::size_t i = below(random, 5); i > 0; --i) mutate(text, random);
  return text;
}

// --------------------------------------------------------------- What must hold of a text

/// What is done with statements that were read: a place for what comes after parsing. It returns
/// what is wrong, or nothing; an ErrorAt is an answer like that of the parser.
std::string use(const std::vector<StatementPtr>& statements) {
  for (const StatementPtr& statement : statements) {
    const std::string text = to_string(*statement);
    const auto again = parse(text);
    if (again.size() != 1 || tree(*again[0]) != tree(*statement))
      return "what is printed is read as something else: " + text;
  }
  return {};
}

struct Outcome {
  bool read = false;
  std::string problem = {};
};

Outcome attempt(const std::string& text) {
  (void)is_complete(text);
  bool read = false;
  try {
    const auto statements = parse(text);
    read = true;
    int last = 0;
    for (const StatementPtr& statement : statements) {
      const bool in_order = last <= statement->begin.offset &&
                            statement->begin.offset < statement->end.offset &&
                            statement->end.offset <= static_cast<int>(text.size());
      if (!in_order) return {true, "a statement's place is not in the text"};
      last = statement->end.offset;
    }
    return {true, use(statements)};
  } catch (const lang::ErrorAt& error) {
    const std::string_view message = error.what();
    if (read) return {true, fmt::format("after it was read: {}", message)};
    if (error.place.offset < 0 || error.place.offset > static_cast<int>(text.size()))
      return {false, fmt::format("an error outside of the text: {}", message)};
    if (message.empty() || message.size() > 600)
      return {false, fmt::format("an error of {} bytes: {}", message.size(), message)};
    for (std::size_t i = 0; i < message.size();) {
      const std::size_t length = lang::character_length(message, i);
      if (length == 0) return {false, "an error that is not valid UTF-8"};
      i += length;
    }
    return {};
  } catch (const std::exception& error) {
    return {read, fmt::format("not an error with a place: {}", error.what())};
  }
}

int run(const FuzzOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  std::int64_t cases = 0, read = 0, wrong = 0;
  const auto is_over = [&] {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    return options.cases > 0 ? cases >= options.cases : spent.count() > options.seconds;
  };
  for (; !is_over() && wrong < 10; ++cases) {
    const std::uint64_t seed = options.seed + static_cast<std::uint64_t>(cases);
    Random random(seed);
    const std::string text = random_text(random);
    const Outcome outcome = attempt(text);
    read += outcome.read ? 1 : 0;
    if (outcome.problem.empty()) continue;
    fmt::print("WRONG --seed {} --cases 1: {}\n--- the text:\n{}\n---\n", seed, outcome.problem,
               text.substr(0, 2000));
    ++wrong;
  }
  fmt::print("{} texts from seed {}, {} of them read, {} wrong\n", cases, options.seed, read,
             wrong);
  return wrong == 0 ? 0 : 1;
}

template <class T>
bool number(std::string_view text, T& into) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
  return error == std::errc() && end == text.data() + text.size();
}

bool read_options(int count, char** arguments, FuzzOptions& options) {
  for (int i = 1; i < count; i += 2) {
    if (i + 1 == count) return false;
    const std::string_view name = arguments[i], value = arguments[i + 1];
    if (!(name == "--seconds" && number(value, options.seconds)) &&
        !(name == "--seed" && number(value, options.seed)) &&
        !(name == "--cases" && number(value, options.cases)))
      return false;
  }
  return true;
}

}  // namespace
}  // namespace tessera::sql

int main(int count, char** arguments) {
  tessera::sql::FuzzOptions options;
  if (!tessera::sql::read_options(count, arguments, options)) {
    fmt::print("sql_fuzz [--seconds N] [--seed S] [--cases N]\n");
    return 2;
  }
  return tessera::sql::run(options);
}
