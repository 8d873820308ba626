#pragma once

#include "optimizer/frames/cut.h"
#include "optimizer/frames/pipelining.h"
#include "query/versions/unrolled.h"

namespace tessera::query {

/// An input of an operator of an unrolled plan: another operator, or a stored table.
struct OperatorInput {
  std::int64_t op = -1;
  int stored = -1;
};

/// An operator by its number.
struct OperatorOf {
  int which;  // of the instances it belongs to
  Instance instance;
  const Node* node;
};
OperatorOf operator_of(const Unrolled& plan, std::int64_t op);
std::vector<OperatorInput> reads_of(const Unrolled& plan, std::int64_t op);
/// The operator that yields what an instance is.
std::int64_t result_of(const Unrolled& plan, int instance);

frames::Kind kind_of(const Node& node);

/// An unrolled plan in frames, which are computed one after the other.
struct Framing {
  std::vector<std::int32_t> frame_of;             // by operator
  std::vector<std::vector<std::int32_t>> frames;  // their operators, ascending
  std::vector<std::int32_t> last_reader;          // by operator: the last frame that reads it
  double expected_breakers = 0;
};

/// Cuts a plan as section 4.4 of the paper says; one frame if it is not larger than the limit.
/// Interrupted if it is to stop before it is done.
Framing framed(const Unrolled& plan, const frames::History& history, frames::Limits limits,
               const std::stop_token& stop = {});

}  // namespace tessera::query
