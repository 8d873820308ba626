#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::session {

/// A column whose cells have what was predicted and what was measured, bars below each other.
class Pairs {
 public:
  void add(const std::string& predicted, const std::string& measured);
  bool says_something() const;  // no: nothing but empty cells and dashes
  std::string text(std::size_t line) const;

 private:
  std::vector<std::pair<std::string, std::string>> cells_;
  std::size_t left_ = 0, right_ = 0;
};

// Quantities of which there may be none: "-".
std::string size_text(double bytes);
std::string time_text(double seconds);

}  // namespace tessera::session
