// Databases that somebody has written on purpose: checksums are right, what they are of is not.
//   database_fuzz [--mutations N] [--seed S] [--folder F]
// Each is a copy of a small database in which something was changed (database_mutation.h). It is
// opened, listed, checked, read, computed with, appended to, exported and vacuumed. Anything may
// come of that but a crash, a report of a sanitizer, an error that is none of ours or our own bug,
// a run without end, or one that takes all memory.

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <map>

#include "fuzz/database_mutation.h"
#include "fuzz/database_seed.h"
#include "fuzz/watchdog.h"
#include "support/command_line.h"
#include "tessera/session.h"

namespace tessera::hostile {
namespace {

namespace fs = std::filesystem;

struct FuzzOptions {
  std::int64_t mutations = 300;
  std::uint64_t seed = 0;
  /// In memory, where there is such a place: a disk would be waited for at every statement.
  std::string folder =
      fs::is_directory("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path();
};

/// What is tried just now, for the process that is left if this one dies of it.
struct Tried {
  std::int64_t done = 0, wrong = 0, refused = 0, executed = 0;
  char text[1 << 12] = {};

  void note(const std::string& what) {
    const std::size_t size = std::min(what.size(), sizeof text - 1);
    std::memcpy(text, what.data(), size);
    text[size] = '\0';
  }
};

class Trial {
 public:
  Trial(const fs::path& folder, Random& random, Watchdog& watchdog, Tried& tried)
      : folder_(folder), random_(random), watchdog_(watchdog), tried_(tried) {}

  /// What is not as it must be; empty if all is.
  std::string run(const std::string& changed) {
    changed_ = changed;
    std::optional<Database> database;
    attempt("open", [&](const std::stop_token&) { database = Database::open(folder_); });
    if (!database) return problem_;
    attempt("list", [&](const std::stop_token&) { (void)database->list(); });
    attempt("check", [&](const std::stop_token&) { (void)database->check(); });
    for (const StoredInfo& info : listed(*database))
      if (random_.chance(0.2) || changed.find(info.name) != std::string::npos)
        attempt("read " + info.name, [&](const std::stop_token&) {
          (void)database->plan(info.name).type();
          (void)database->read(info.name).statistics();
        });
    // Those that are about what was changed, and some others.
    for (const std::string& text : statements())
      if (problem_.empty() && (random_.chance(0.04) || is_about(text, changed)) &&
          (!takes_long(text) || random_.chance(0.2)))
        execute(*database, text);
    return problem_;
  }

 private:
  static std::vector<StoredInfo> listed(const Database& database) {
    try {
      return database.list();
    } catch (const Error&) {
      return {};
    }
  }

  /// A cut into frames is searched for as long as ten other statements take.
  static bool takes_long(const std::string& text) { return text.starts_with("SET frame_size"); }

  bool is_about(const std::string& text, const std::string& changed) {
    for (std::size_t at = 0; at < changed.size();) {
      const std::size_t end = std::min(changed.find_first_of(" ,/[", at), changed.size());
      const std::string word = changed.substr(at, end - at);
      at = end + 1;
      const std::size_t found = word.empty() ? std::string::npos : text.find(word);
      if (found == std::string::npos) continue;
      const char after = found + word.size() < text.size() ? text[found + word.size()] : ' ';
      if (std::isalnum(static_cast<unsigned char>(after)) == 0 && random_.chance(0.6)) return true;
    }
    return false;
  }

  void execute(const Database& database, const std::string& text) {
    attempt(text, [&](const std::stop_token& stop) {
      SessionOptions options;
      options.run.memory_limit = std::int64_t{32} << 20;
      options.run.threads = 1;
      options.run.stop = stop;
      Session session(database, options);
      session.execute(text, [&](const StatementResult& result) {
        ++tried_.executed;
        if (!result.table) return;
        for (std::int64_t row = 0; row < std::min<std::int64_t>(result.table->rows(), 5); ++row)
          for (int column = 0; std::cmp_less(column, result.table->columns().size()); ++column)
            (void)result.table->text(row, column);
      });
    });
  }

  template <class Work>
  void attempt(const std::string& what, const Work& work) {
    tried_.note(fmt::format("{}; then {}", changed_, what));
    const Watchdog::Watch watch(watchdog_);
    try {
      work(watch.stop());
    } catch (const Error& error) {
      ++tried_.refused;
      if (std::string_view(error.kind()) == "InternalError")
        problem_ = fmt::format("our own bug: {}", error.what());
    } catch (const std::exception& error) {
      problem_ = fmt::format("not an error of ours: {}", error.what());
    }
  }

  const fs::path folder_;
  Random& random_;
  Watchdog& watchdog_;
  Tried& tried_;
  std::string changed_, problem_;
};

void report(std::uint64_t seed, const std::string& problem, const char* tried) {
  fmt::print("WRONG --seed {} --mutations 1: {}\n  it was: {}\n", seed, problem, tried);
  std::fflush(stdout);
}

/// Goes on from the mutations that are done.
int run(const FuzzOptions& options, const fs::path& scratch, Tried& tried) {
  Watchdog watchdog({.until_stopped = std::chrono::milliseconds(500), .most_bytes = 3e9});
  fs::create_directories(scratch / "files");
  fs::current_path(scratch / "files");
  while (tried.done < options.mutations) {
    const std::uint64_t seed = options.seed + static_cast<std::uint64_t>(tried.done);
    Random random(seed);
    const fs::path victim = scratch / "victim.tsdb";
    fs::remove_all(victim);
    fs::copy(scratch / "seed.tsdb", victim, fs::copy_options::recursive);
    tried.note("the mutation itself");
    const std::string changed = mutate(victim, random);
    const std::string problem = Trial(victim, random, watchdog, tried).run(changed);
    ++tried.done;
    if (tried.done % 5000 == 0) {
      fmt::print("{} of {}\n", tried.done, options.mutations);
      std::fflush(stdout);
    }
    if (problem.empty()) continue;
    report(seed, problem, tried.text);
    if (++tried.wrong >= 10) break;
  }
  return 0;
}

/// Runs them in another process, says which it has died of, and goes on after that.
int run_apart(const FuzzOptions& options) {
  const fs::path scratch = fs::path(options.folder) / fmt::format("database-fuzz-{}", ::getpid());
  fs::create_directories(scratch);
  void* shared =
      ::mmap(nullptr, sizeof(Tried), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 2;
  auto& tried = *new (shared) Tried;
  // In a process of its own: this one forks, and has no threads.
  if (const pid_t child = ::fork(); child == 0) {
    make_seed(scratch / "seed.tsdb");
    std::exit(0);
  } else if (int status = 0; ::waitpid(child, &status, 0) != child || status != 0) {
    return 2;
  }
  while (tried.done < options.mutations && tried.wrong < 10) {
    const pid_t child = ::fork();
    if (child == 0) std::exit(run(options, scratch, tried));
    int status = 0;
    const bool ended = ::waitpid(child, &status, 0) == child && WIFEXITED(status);
    if (ended && WEXITSTATUS(status) == 0) continue;
    report(options.seed + static_cast<std::uint64_t>(tried.done),
           ended ? fmt::format("it ended with {}", WEXITSTATUS(status))
                 : fmt::format("it was killed by signal {}", WTERMSIG(status)),
           tried.text);
    ++tried.done;
    ++tried.wrong;
  }
  fs::remove_all(scratch);
  fmt::print(
      "{} mutations from seed {}: {} statements yielded results, {} were refused, {} wrong\n",
      tried.done, options.seed, tried.executed, tried.refused, tried.wrong);
  if (tried.executed < tried.done) fmt::print("WRONG: too few statements yield results\n");
  return tried.wrong == 0 && tried.executed >= tried.done ? 0 : 1;
}

}  // namespace
}  // namespace tessera::hostile

int main(int count, char** arguments) {
  tessera::hostile::FuzzOptions options;
  if (!tessera::read_command_line(count, arguments,
                                  {{"mutations", &options.mutations},
                                   {"seed", &options.seed},
                                   {"folder", &options.folder}}))
    return 2;
  return tessera::hostile::run_apart(options);
}
