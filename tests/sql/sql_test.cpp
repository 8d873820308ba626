#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "base/bytes.h"
#include "tessera/session.h"
#include "test_file.h"

// Runs .test files, each in a database of its own, and says what differs.

namespace tessera::testing {
namespace {

/// A cell as the files have it: on one line, tensors with commas.
std::string cell_text(const ResultTable& table, std::int64_t row, int column) {
  const std::string text = table.text(row, column);
  if (table.tile_type(row, column).shape.rank() == 0) return text;
  std::string result;
  for (char c : text) {
    const bool blank = c == ' ' || c == '\n';
    if (blank && (result.empty() || result.back() == ' ' || result.back() == '[')) continue;
    if (!blank && c == ']' && !result.empty() && result.back() == ' ') result.pop_back();
    result += blank ? ' ' : c;
  }
  return result;
}

std::vector<std::string> rows_of(const ResultTable& table) {
  std::vector<std::string> rows;
  for (std::int64_t r = 0; r < table.rows(); ++r) {
    std::string row;
    for (int c = 0; std::cmp_less(c, table.columns().size()); ++c)
      row += (c == 0 ? "" : " | ") + cell_text(table, r, c);
    rows.push_back(row);
  }
  return rows;
}

struct Outcome {
  std::vector<std::string> rows = {};
  std::optional<std::string> error = {};
};

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

Outcome outcome_of(Session& session, const std::string& written) {
  Outcome outcome;
  // In the folder of the database, which all processes of a cluster share.
  const std::filesystem::path files = session.database().folder() / "files";
  std::filesystem::create_directory(files);
  const std::string folder = files.string();
  const std::string text = replaced(written, "$FOLDER", folder);
  try {
    session.execute(text, [&](const StatementResult& result) {
      if (!result.table) return;
      const auto rows = rows_of(*result.table);
      outcome.rows.insert(outcome.rows.end(), rows.begin(), rows.end());
    });
  } catch (const StatementError& error) {
    outcome.error = fmt::format("{} {}:{} {}", error.kind(), error.line, error.column,
                                replaced(error.what(), folder, "$FOLDER"));
  }
  return outcome;
}

std::string joined(const std::vector<std::string>& lines, std::string_view with = "\n    ") {
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : std::string(with)) + line;
  return text;
}

/// A line whose columns may be of any width; how far it is indented stays.
std::string squeezed(const std::string& line) {
  std::string result = line.substr(0, std::min(line.find_first_not_of(' '), line.size()));
  for (std::size_t i = result.size(); i < line.size(); ++i)
    if (line[i] != ' ' || result.empty() || result.back() != ' ') result += line[i];
  return result;
}

/// Whether a line is what is expected, in which ... stands for anything.
bool matches(std::string line, const std::string& expected) {
  line = squeezed(line);
  const std::string pattern = squeezed(expected);
  std::size_t at = 0;
  for (std::size_t from = 0;;) {
    const std::size_t to = pattern.find("...", from);
    const std::string piece = pattern.substr(from, to == std::string::npos ? to : to - from);
    if (to == std::string::npos)
      return from == 0 ? line == piece : line.size() >= at + piece.size() && line.ends_with(piece);
    const std::size_t found = line.find(piece, at);
    if (found == std::string::npos || (from == 0 && found != 0)) return false;
    at = found + piece.size();
    from = to + 3;
  }
}

bool is_plan(const std::vector<std::string>& rows, const std::vector<std::string>& expected) {
  return std::equal(rows.begin(), rows.end(), expected.begin(), expected.end(), matches);
}

/// Whether an error is what is expected. On a cluster, of an error that another process has found
/// only the message is known here: that process tells kind and place itself.
bool is_error(const std::string& error, const std::string& expected) {
  const std::size_t message = error.find(": ");
  if (!error.starts_with("ClusterError ") || message == std::string::npos) return error == expected;
  return expected.ends_with(" " + error.substr(message + 2));
}

/// Why a case fails; empty if it does not.
std::string failure_of(Session& session, const SqlCase& test) {
  Outcome outcome = outcome_of(session, test.text);
  std::vector<std::string> expected = test.expected;
  if (test.kind == SqlCase::Kind::error) {
    if (!outcome.error) return "no error, but " + std::to_string(outcome.rows.size()) + " rows";
    if (is_error(*outcome.error, joined(expected, "\n"))) return "";
    return "the error is\n    " + *outcome.error + "\n  and not\n    " + joined(expected);
  }
  if (outcome.error) return *outcome.error;
  if (test.kind == SqlCase::Kind::statement) return "";
  if (test.kind == SqlCase::Kind::query) {
    std::sort(outcome.rows.begin(), outcome.rows.end());
    std::sort(expected.begin(), expected.end());
  }
  if (test.kind == SqlCase::Kind::plan) std::erase(outcome.rows, "");
  if (test.kind == SqlCase::Kind::plan ? is_plan(outcome.rows, expected) : outcome.rows == expected)
    return "";
  return "the rows are\n    " + joined(outcome.rows) + "\n  and not\n    " + joined(expected);
}

int run(int argc, char** argv) {
  SessionOptions options;
  std::vector<std::string> files;
  for (int a = 1; a < argc; ++a) {
    const std::string argument = argv[a];
    const auto value = [&]() -> std::string {
      if (a + 1 >= argc) throw std::runtime_error(argument + " wants a value");
      return argv[++a];
    };
    if (argument == "--by-rows")
      options.by_rows = true;
    else if (argument == "--no-optimizer")
      options.run.optimize = false;
    else if (argument == "--threads")
      options.run.threads = std::stoi(value());
    else if (argument == "--sites")
      options.run.sites = std::stoi(value());
    else if (argument == "--tile")
      options.tile_size = std::stoi(value());
    else if (argument == "--memory-limit")
      options.run.memory_limit = parse_bytes(value());
    else
      files.push_back(argument);
  }
  const bool speaks = cluster_info().rank == 0;
  int cases = 0, errors = 0, failed = 0;
  for (const std::string& file : files) {
    Session session(Database::temporary(), options);
    for (const SqlCase& test : read_cases(file)) {
      if (test.shows_tiles && options.tile_size > 0) continue;
      ++cases;
      errors += test.kind == SqlCase::Kind::error ? 1 : 0;
      const std::string failure = failure_of(session, test);
      if (failure.empty()) continue;
      ++failed;
      if (speaks)
        std::cout << file << ":" << test.line << ": " << test.text << "\n  " << failure << "\n";
    }
  }
  if (speaks)
    std::cout << cases << " cases, " << errors << " of them errors, " << failed << " failed\n";
  return failed == 0 && cases > 0 ? 0 : 1;
}

}  // namespace
}  // namespace tessera::testing

int main(int argc, char** argv) {
  try {
    return tessera::testing::run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 2;
  }
}
