#pragma once

#include "tessera/optimizer.h"

namespace tessera::session {

/// The first passes of a statement: what a query of SQL is taken through before there are plans.
inline const PassInfo unroll_pass{"unroll", "references followed until all is stored tables"};
inline const PassInfo bind_pass{"bind", "names resolved, and types inferred"};
inline const PassInfo frame_pass{"frame",
                                 "a large plan cut into frames, which are computed in turn"};
inline const PassInfo lower_pass{
    "lower", "each operator a plan of the tensor relational algebra, or work on rows"};

/// All passes from a statement that was parsed to the tasks that compute it, in order. Each is
/// timed where it is taken, by statements that run as by those that are explained. A query is bound
/// while it is unrolled, and lowered operator by operator, between the runs of plans whose rows it
/// needs.
std::vector<PassInfo> pipeline();

/// Passes that were taken, in the order of the pipeline, which has all of them.
std::vector<PassUse> as_in_pipeline(const std::vector<PassUse>& taken);

}  // namespace tessera::session
