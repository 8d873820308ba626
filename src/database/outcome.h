#pragma once

#include <exception>
#include <string>

namespace tessera {

/// How something has ended that one process did and others want to know, as a text that travels.
struct Outcome {
  std::string kind = {};     // of the error; empty: all went well
  std::string message = {};  // of the error
  int line = 0, column = 0;  // where the text was wrong, if that is what was wrong
  std::string result = {};   // if all went well

  bool failed() const { return !kind.empty(); }
};
Outcome failure_of(const std::exception_ptr& error);
std::string to_text(const Outcome& outcome);
Outcome outcome_of(const std::string& text);

/// Throws what was thrown there: an error of the same kind, with the same message.
[[noreturn]] void rethrow(const Outcome& outcome);

}  // namespace tessera
