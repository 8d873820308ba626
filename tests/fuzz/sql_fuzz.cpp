// Random bytes, random tokens and mutated statements, handed to SQL:
//   sql_fuzz [--seconds N] [--seed S] [--databases N]
// Each is either read, and then what is printed of it is read again as the same; or refused with an
// error that has a place inside of the text. Then it is executed, over a database that is renewed
// after some hundred texts. What is not as it must be is printed, with the text and what repeats
// it.

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>

#include "fuzz/sql_texts.h"
#include "fuzz/sql_victim.h"
#include "lang/characters.h"
#include "lang/sql/completeness.h"
#include "lang/sql/parser.h"
#include "lang/sql/printer.h"
#include "support/command_line.h"
#include "support/sql_trees.h"

namespace tessera::sql {
namespace {

namespace fs = std::filesystem;

struct FuzzOptions {
  double seconds = 10;
  std::uint64_t seed = 0;
  std::int64_t databases = 0;  // 0: as many as the time allows
};

constexpr int texts_a_database = 200;

/// What is tried just now, for the process that is left if this one dies of it.
struct Tried {
  std::uint64_t seed;
  std::size_t size;
  char text[1 << 16];

  void note(std::uint64_t of_seed, const std::string& what) {
    seed = of_seed;
    size = std::min(what.size(), sizeof text);
    std::memcpy(text, what.data(), size);
  }
};

// ---------------------------------------------------------------- What must hold of a text

std::string printed_as_something_else(const std::vector<StatementPtr>& statements) {
  for (const StatementPtr& statement : statements) {
    const std::string text = to_string(*statement);
    const auto again = parse(text);
    if (again.size() != 1 || tree(*again[0]) != tree(*statement))
      return "what is printed is read as something else: " + text;
  }
  return {};
}

/// What is wrong with how a text is read.
std::string problem_in_reading(const std::string& text) {
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
      if (!in_order) return "a statement's place is not in the text";
      last = statement->end.offset;
    }
    return printed_as_something_else(statements);
  } catch (const lang::ErrorAt& error) {
    const std::string_view message = error.what();
    if (read) return fmt::format("after it was read: {}", message);
    if (error.location.offset < 0 || error.location.offset > static_cast<int>(text.size()))
      return fmt::format("an error outside of the text: {}", message);
    if (message.size() > 600)
      return fmt::format("an error of {} bytes: {}", message.size(), message);
    return {};
  } catch (const std::exception& error) {
    return fmt::format("not an error with a place: {}", error.what());
  }
}

void report(std::uint64_t seed, const std::string& problem, std::string_view text) {
  fmt::print("WRONG --seed {} --databases 1: {}\n--- the text:\n{}\n---\n", seed, problem,
             text.substr(0, 2000));
  std::fflush(stdout);
}

int run(const FuzzOptions& options, Tried& tried) {
  std::vector<std::string> test_files;
  for (const fs::directory_entry& file : fs::directory_iterator(SQL_TEST_FOLDER))
    if (file.path().extension() == ".test") test_files.push_back(file.path());
  std::sort(test_files.begin(), test_files.end());
  Watchdog watchdog;
  const auto begin = std::chrono::steady_clock::now();
  const auto is_late = [&] {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    return options.databases == 0 && spent.count() > options.seconds;
  };
  std::int64_t databases = 0, texts = 0, done = 0, wrong = 0;
  for (; !is_late() && (options.databases == 0 || databases < options.databases); ++databases) {
    const std::uint64_t seed = options.seed + static_cast<std::uint64_t>(databases);
    Random random(seed);
    tried.note(seed, "(the tables of the database)");
    Victim victim(random, test_files, watchdog);
    SqlTexts source(random, victim.statements());
    for (int i = 0; i < texts_a_database && !is_late() && wrong < 10; ++i) {
      const std::string text = source.next();
      tried.note(seed, text);
      ++texts;
      std::string problem = problem_in_reading(text);
      if (problem.empty() && stays_here(text)) {
        const Victim::Answer answer = victim.execute(text);
        done += answer.done ? 1 : 0;
        problem = answer.problem;
      }
      if (problem.empty()) continue;
      report(seed, problem, text);
      ++wrong;
    }
    if (wrong >= 10) break;
  }
  fmt::print(
      "{} texts over {} databases from seed {}, {} of them executed without an error, {} "
      "wrong\n",
      texts, databases, options.seed, done, wrong);
  return wrong == 0 ? 0 : 1;
}

/// Runs the texts in another process, and says which it has died of.
int run_apart(const FuzzOptions& options) {
  const std::string scratch =
      (fs::temp_directory_path() / fmt::format("sql-fuzz-{}", ::getpid())).string();
  fs::create_directories(scratch);
  void* shared =
      ::mmap(nullptr, sizeof(Tried), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 2;
  auto& tried = *static_cast<Tried*>(shared);
  const pid_t child = ::fork();
  if (child == 0) {
    fs::current_path(scratch);
    std::exit(run(options, tried));
  }
  int status = 0;
  const bool ended = ::waitpid(child, &status, 0) == child && WIFEXITED(status);
  const int code = ended ? WEXITSTATUS(status) : 3;
  if (code > 1)
    report(tried.seed,
           ended ? fmt::format("it ended with {}", code)
                 : fmt::format("it was killed by signal {}", WTERMSIG(status)),
           {tried.text, tried.size});
  fs::remove_all(scratch);
  return code;
}

}  // namespace
}  // namespace tessera::sql

int main(int count, char** arguments) {
  tessera::sql::FuzzOptions options;
  if (!tessera::read_command_line(count, arguments,
                                  {{"seconds", &options.seconds},
                                   {"seed", &options.seed},
                                   {"databases", &options.databases}}))
    return 2;
  return tessera::sql::run_apart(options);
}
