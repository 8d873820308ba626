#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::shell {

/// The names that a session knows.
struct KnownNames {
  std::map<std::string, std::vector<std::string>> tables = {};  // with their columns
  std::vector<std::string> functions = {};
  std::vector<std::string> settings = {};
};

struct Completion {
  std::size_t begin = 0;  // of the word that is to be completed, up to the end of the text
  std::vector<std::string> candidates = {};  // for it, in order; none: nothing is known
  char end = ' ';                            // what follows the word once it is complete
};

/// The files that a name may become; folders end with a slash.
std::vector<std::string> files_that_begin(const std::string& name);

/// What the last word of a text, that is up to the cursor, may become.
Completion complete(std::string_view text, const KnownNames& names);

/// What all of them begin with, whatever the case of their letters: that of the first.
std::string common_beginning(const std::vector<std::string>& candidates);

}  // namespace tessera::shell
