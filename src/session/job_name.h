#pragma once

#include "lang/sql/ast.h"
#include "optimizer/frames/cut.h"
#include "query/lowering/evaluation.h"
#include "query/versions/unrolled.h"

namespace tessera::session {

/// What a job that was killed is found by: the same for the same statement and plan over the same
/// data, and for no other, be it that a rule has changed, a table, or how statements become plans.
/// `given`: what stands for each `?`, of which tensors are not in the printed queries.
std::string job_name(const std::vector<query::Request>& requests, const query::Unrolled& plan,
                     const std::vector<query::Value>& tables,
                     const std::vector<sql::Literal>& given, query::Definitions& definitions,
                     frames::Limits limits);

}  // namespace tessera::session
