#pragma once

#include <string>
#include <vector>

namespace tessera {

/// Lines of cells as a text in which the cells of a column stand below each other.
std::string in_columns(const std::vector<std::vector<std::string>>& lines);

}  // namespace tessera
