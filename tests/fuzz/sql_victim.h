#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/watchdog.h"
#include "support/random_tiles.h"
#include "tessera/session.h"

namespace tessera::sql {

/// A database with tables, views, versioned tables and tensors, that texts are executed over.
class Victim {
 public:
  /// Some tables are always there, others are those of one of the test files, of which there is at
  /// least one. Files are read and written below the working directory alone.
  Victim(Random& random, const std::vector<std::string>& test_files, Watchdog& watchdog);

  const std::vector<std::string>& statements() const { return statements_; }  // about its tables

  struct Answer {
    bool done = false;         // without an error
    std::string problem = {};  // what must not be
  };
  /// Executes a text in a session of its own. An error has a place in the text, and leaves
  /// everything as the statement before has left it.
  Answer execute(const std::string& text);

 private:
  Database database_;
  SessionOptions options_;
  std::vector<std::string> statements_;
  Watchdog& watchdog_;
};

/// Whether a text reaches no farther than the working directory: not to files elsewhere, nor to a
/// server.
bool stays_here(const std::string& text);

}  // namespace tessera::sql
