#pragma once

#include "query/versions/version_rule.h"

namespace tessera::query {

/// A version on the way from what was asked for to what is being looked for: it reads the next one.
struct Step {
  std::string table;
  const VersionRule* rule;
  Indices indices;
};
using Path = std::vector<Step>;

/// "t[2] -> t[3] -> (9 more) -> t[1]": the first and the last of them.
std::string path_text(const Path& path);

/// Rules among which a recursion goes on forever that has come along this path: whatever version of
/// theirs comes next, it reads another one of theirs. Empty: nothing is known. Versions that are
/// stored are left aside: where there are any, the path may end there.
///
/// Indices have a least value each. So a path without an end comes to ever larger ones, and that is
/// when Z3 is asked.
std::vector<const VersionRule*> endless_rules(const Path& path);

}  // namespace tessera::query
