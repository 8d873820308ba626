#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

namespace tasks {

/// The words after a program's name: options are taken out one by one, and none may be left.
class Arguments {
 public:
  Arguments(int argc, char** argv, const char* usage)
      : left_(argv + 1, argv + argc), usage_(usage) {
    if (flag("--help")) stop(0);
  }

  bool flag(const std::string& name) {
    const auto found = std::find(left_.begin(), left_.end(), name);
    if (found == left_.end()) return false;
    left_.erase(found);
    return true;
  }
  std::string text(const std::string& name, const std::string& otherwise) {
    const auto found = std::find(left_.begin(), left_.end(), name);
    if (found == left_.end()) return otherwise;
    if (found + 1 == left_.end()) stop(2);
    const std::string value = found[1];
    left_.erase(found, found + 2);
    return value;
  }
  /// A whole number of at least 1, unless it is not given.
  std::int64_t number(const std::string& name, std::int64_t otherwise) {
    const std::string said = text(name, "");
    if (said.empty()) return otherwise;
    char* end = nullptr;
    const long long value = std::strtoll(said.c_str(), &end, 10);
    if (*end != '\0' || value < 1) stop(2);
    return value;
  }
  void end() const {
    if (!left_.empty()) stop(2);
  }
  [[noreturn]] void stop(int status) const {
    (status == 0 ? std::cout : std::cerr) << usage_;
    std::exit(status);
  }

 private:
  std::vector<std::string> left_;
  const char* usage_;
};

}  // namespace tasks
