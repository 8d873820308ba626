#include "query/row_watch.h"

#include "base/bytes.h"
#include "base/check.h"
#include "base/stop.h"

namespace tessera::query {

void RowWatch::look() const { refuse_if_stopped(stop_, "rows were looked at"); }

void RowWatch::keep(const Row& row) {
  bytes_ += static_cast<std::int64_t>(sizeof(Row) + row.size() * sizeof(Cell));
  TESSERA_REQUIRE(
      OutOfMemory, limit_ == 0 || bytes_ <= limit_,
      "the rows of one operator take more than {}, the memory limit: connect the tables "
      "of a join by a condition, filter or aggregate earlier, or raise memory_limit",
      bytes_text(limit_));
}

}  // namespace tessera::query
