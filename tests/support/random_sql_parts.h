#pragma once

#include "support/random_sql.h"

namespace tessera::sql {

std::string random_name(Random& random);
std::vector<std::string> random_names(Random& random, int least, int most);
Type random_type(Random& random);
Shape random_sizes(Random& random, int least_rank);
TableName random_version(Random& random, int depth, int least_indices);

template <class Make>
auto random_list(Random& random, int least, int most, const Make& make) {
  std::vector<decltype(make())> parts;
  for (std::int64_t i = random.between(least, most); i > 0; --i) parts.push_back(make());
  return parts;
}

}  // namespace tessera::sql
