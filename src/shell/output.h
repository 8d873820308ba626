#pragma once

#include <fstream>
#include <optional>
#include <string>

namespace tessera::shell {

/// Whoever read the standard output does not any more. No error: the program ends, and says
/// nothing.
struct OutputClosed {};

/// IoError if what was written to the standard output did not get there; OutputClosed if nobody
/// reads it.
void finish_standard_output();

/// Where rows and messages go: the standard output, or a file.
class Output {
 public:
  std::ostream& stream();
  void to_file(const std::string& path);  // IoError if it cannot be written
  void to_standard_output();
  /// From now on nothing is written anywhere, whatever else is asked for.
  void mute();
  bool is_muted() const { return is_muted_; }
  /// What was written is there for others, or that is an error.
  void finish();

  int width() const;  // of the terminal that it is; 0: none
  bool colours() const;

 private:
  std::optional<std::ofstream> file_;
  std::string path_;
  bool is_muted_ = false;
};

}  // namespace tessera::shell
