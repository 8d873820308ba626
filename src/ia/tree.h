#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tessera/ia.h"

namespace tessera::ia {

/// Plans as trees, an operator a line, with columns of notes beside it. What is read more than
/// once is numbered, and shown once.
using Notes = std::function<std::vector<std::string>(const Plan& plan)>;
std::string render_tree(const std::vector<Plan>& roots, const std::vector<std::string>& headings,
                        const Notes& notes);

}  // namespace tessera::ia
