#include <algorithm>
#include <map>

#include "laws/case_maker.h"

namespace tessera {
namespace {

/// Some letters in any order; now and then one of them twice.
std::string some_of(CaseMaker& make, const std::string& letters, std::int64_t most) {
  std::string chosen;
  for (std::int64_t i = make.random.between(0, most); i > 0; --i) {
    const char letter = letters[static_cast<std::size_t>(
        make.random.between(0, static_cast<std::int64_t>(letters.size()) - 1))];
    if (chosen.find(letter) == std::string::npos || make.random.chance(0.3)) chosen += letter;
  }
  return chosen;
}

KernelCase einsum(CaseMaker& make) {
  const std::string letters = make.random.chance(0.5) ? "ijk" : "aBcijk";
  std::map<char, std::int64_t> extents;
  const std::int64_t most = letters.size() > 3 ? 3 : make.budget > 1000 ? 24 : 6;
  for (char letter : letters) extents[letter] = make.extent(most);
  const std::string a = some_of(make, letters, 4), b = some_of(make, letters, 4);
  std::string spec = a + (make.random.chance(0.2) ? " , " : ",") + b;
  if (make.random.chance(0.8)) {
    std::vector<char> output;
    for (char letter : a + b)
      if (std::find(output.begin(), output.end(), letter) == output.end() &&
          make.random.chance(0.6))
        output.push_back(letter);
    make.random.shuffle(output);
    spec += "->" + std::string(output.begin(), output.end());
    if (make.misfit()) spec += "zij";
  }
  const auto shape_of = [&](const std::string& operand) {
    Shape shape;
    for (char letter : operand) shape.push_back(extents.at(letter));
    if (make.misfit()) shape = make.shape(0, 4);
    return shape;
  };
  Tile left = make.tile(shape_of(a));
  return make.made({std::move(left), make.tile(shape_of(b))}, {{"spec", spec}});
}

}  // namespace

Generators contraction_generators() { return {{"einsum", einsum}}; }

}  // namespace tessera
