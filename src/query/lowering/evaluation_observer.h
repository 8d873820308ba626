#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::query {

/// What an operator did that looked at rows.
struct RowWork {
  std::string reason = {};                 // why it is no plan
  std::vector<std::int64_t> rows_in = {};  // of each input
  std::int64_t rows_out = 0;
  double seconds = 0;  // without what the plans took that were run for its inputs
};

/// Whoever wants to know what is done while queries are evaluated. Runs of plans are told by their
/// options (RunOptions::ended).
class EvaluationObserver {
 public:
  virtual ~EvaluationObserver() = default;
  virtual void frame_begins(std::int64_t frame) = 0;  // their number: all are done
  virtual void operator_begins(std::int64_t op) = 0;  // by its number in the unrolled plan
  virtual void results_begin() = 0;                   // what runs from here on makes the results
  // Of the operator that began last:
  virtual void looked_at_rows(const RowWork& work) = 0;
  virtual void known_later(const std::string& why) = 0;  // the query is only planned
};

}  // namespace tessera::query
