#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// Names for a message that says what there is: "a, b, c", "none", and of many the first ones and
/// how many more there are.
std::string names_text(const std::vector<std::string>& names);

/// Those of the names that somebody who wrote `name` may have meant: at most three, the closest
/// first. Two names are as far from each other as characters have to be changed, added or removed.
std::vector<std::string> similar_names(std::string_view name,
                                       const std::vector<std::string>& names);

/// `did you mean "a" or "b"?`
std::string did_you_mean(const std::vector<std::string>& names);

/// What follows `name "x" not found; ` in a message: `did you mean "y"?`, or if no name is similar
/// `available: a, b, c`.
std::string instead_of(std::string_view name, const std::vector<std::string>& names);

}  // namespace tessera
