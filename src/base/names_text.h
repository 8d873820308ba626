#pragma once

#include <string>
#include <vector>

namespace tessera {

/// Names for a message that says what there is: "a, b, c", "none", and of many the first ones and
/// how many more there are.
std::string names_text(const std::vector<std::string>& names);

}  // namespace tessera
