#pragma once

#include "tessera/optimizer.h"

namespace tessera::session {

/// The first passes of a statement: what a query of SQL is taken through before there are plans.
inline const PassInfo unroll_pass{
    "unroll", "references followed until all is stored tables; names bound, and types inferred"};
inline const PassInfo frame_pass{"frame",
                                 "a large plan cut into frames, which are computed in turn"};
inline const PassInfo lower_pass{
    "lower", "each operator a plan of the tensor relational algebra, or work on rows"};

/// All passes from a statement that was parsed to the tasks that compute it, in order. What each
/// took is told by EXPLAIN (VERBOSE), and what it made is verified.
std::vector<PassInfo> pipeline();

}  // namespace tessera::session
