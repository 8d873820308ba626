#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/catalog.h"

namespace tessera::store {

/// The strings that have codes, as far as they were read from the catalogue: they never change, and
/// none is removed, so that what was read once stays right.
class Dictionary {
 public:
  /// Reads those that were added since. Not inside a transaction.
  void read_new(Catalog& catalog);

  std::optional<std::int64_t> code_of(const std::string& string) const;
  /// Null if the code is no string's, or the string is damaged.
  const std::string* string_of(std::int64_t code) const;
  const std::set<std::int64_t>& damaged() const { return damaged_; }  // codes
  /// What is damaged, empty if nothing is: a string that cannot be read has a code nevertheless,
  /// and would get another one.
  std::string damage() const;

 private:
  std::unordered_map<std::int64_t, std::string> strings_;
  std::unordered_map<std::string_view, std::int64_t> codes_;  // of what lies there
  std::set<std::int64_t> damaged_;
  std::int64_t last_ = 0;  // the greatest code that was read
  bool complete_ = true;   // no row has vanished
  RowTotals read_ = {};    // of all rows so far
};

}  // namespace tessera::store
