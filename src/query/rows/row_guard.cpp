#include "query/rows/row_guard.h"

#include "base/bytes.h"
#include "base/check.h"
#include "base/memory_account.h"
#include "base/stop.h"

namespace tessera::query {

void RowGuard::look() const {
  refuse_if_stopped(stop_, "processing rows");
  look_at_memory("the rows of a query");
}

namespace {

/// A list of rows grows by doubling, and each block of memory has a head.
std::int64_t bytes_of(std::size_t cells) {
  return static_cast<std::int64_t>(2 * sizeof(Row) + 2 * sizeof(void*) + cells * sizeof(Cell));
}

}  // namespace

void RowGuard::hold(const Rows& rows) {
  bytes_ += std::ssize(rows.rows) * bytes_of(rows.schema.size());
}

void RowGuard::keep(const Row& row) {
  bytes_ += bytes_of(row.size());
  TESSERA_REQUIRE(
      OutOfMemory, limit_ == 0 || bytes_ <= limit_,
      "the rows of one operator exceed the memory limit of {}; add a join condition, filter "
      "or aggregate earlier, or raise memory_limit",
      bytes_text(limit_));
}

}  // namespace tessera::query
