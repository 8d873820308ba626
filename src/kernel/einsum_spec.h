#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// What is multiplied and summed, in Einstein's notation: a letter for each dimension of each
/// operand, and those of the result in its order. 'ik,kj->ij' is the product of two matrices.
struct EinsumSpec {
  std::vector<std::string> operands;
  std::string output;

  /// Without an arrow the result has the letters that occur once, in alphabetical order, as in
  /// NumPy. TypeError that says what is wrong with the text.
  static EinsumSpec parse(std::string_view text);
  std::string to_string() const;  // always with its arrow
};

}  // namespace tessera
