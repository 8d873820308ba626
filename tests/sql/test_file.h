#pragma once

#include <string>
#include <vector>

namespace tessera::testing {

/// A case of a .test file: what is executed, and what is expected.
struct SqlCase {
  enum class Kind { statement, query, ordered, plan, error };
  Kind kind;
  std::string text;                   // of the statement, or several of them
  std::vector<std::string> expected;  // rows, or lines of the error
  int line;                           // where it begins
  bool shows_tiles = false;           // what is expected depends on the tiles that are chosen
};

/// The cases of a file, separated by blank lines:
///
///   statement            works, whatever it says
///   query                its rows after a line of four dashes, in any order, cells between bars
///   ordered              the same, in this order
///   plan                 the lines of EXPLAIN but empty ones; ... stands for what varies, such as
///   a
///                        time, and several blanks inside a line are as good as one
///   error                the kind of the error, line:column, and the message
///
/// "query chosen tiles" shows tiles that are chosen where nobody says them: where a setting does,
/// the case is skipped.
///
/// Lines that begin with # are comments. $FOLDER is a folder for files, which goes in the end.
std::vector<SqlCase> read_cases(const std::string& path);

}  // namespace tessera::testing
