#pragma once

#include <functional>
#include <stop_token>

#include "query/versions/version_rule.h"

namespace tessera::query {

/// The indices of all versions that t[i-2...i-1][j:0...i][j] stands for, the last one changing
/// fastest. `names` and `values`: what the expressions in it may use. `reads` counts, over all
/// references of a statement, and may not come above the limit.
void for_each_version(const std::vector<sql::IndexRange>& ranges, std::vector<std::string> names,
                      std::vector<std::int64_t> values, std::int64_t& reads,
                      const std::stop_token& stop,
                      const std::function<void(const Indices&)>& receive);

/// What one statement may look at: a plan is far from this where it can still be planned, and a
/// recursion that never ends meets it.
constexpr std::int64_t most_versions = 1'000'000, most_reads = 10 * most_versions;

}  // namespace tessera::query
