#pragma once

#include <cstdint>
#include <stop_token>

#include "query/rows/cell.h"

namespace tessera::query {

/// Watches over operators on rows, which hold in memory what they yield. A few of them can ask for
/// more than any machine has: a join of tables that nothing connects.
class RowGuard {
 public:
  RowGuard() = default;  // of nobody, without a limit
  RowGuard(std::stop_token stop, std::int64_t memory_limit)
      : stop_(std::move(stop)), limit_(memory_limit) {}

  void look() const;            // at a row; Interrupted if that was asked for
  void keep(const Row& row);    // a new one; OutOfMemory if they do not fit the limit
  void hold(const Rows& rows);  // that are read, and stay meanwhile

 private:
  std::stop_token stop_ = {};
  std::int64_t limit_ = 0;
  std::int64_t bytes_ = 0;
};

}  // namespace tessera::query
