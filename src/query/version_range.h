#pragma once

#include <functional>

#include "query/version_rule.h"

namespace tessera::query {

/// The indices of all versions that t[i-2...i-1][j:0...i][j] stands for, the last one changing
/// fastest. `names` and `values`: what the expressions in it may use.
void for_each_version(const std::vector<sql::IndexRange>& ranges, std::vector<std::string> names,
                      std::vector<std::int64_t> values,
                      const std::function<void(const Indices&)>& receive);

}  // namespace tessera::query
