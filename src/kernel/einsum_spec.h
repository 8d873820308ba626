#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/tile.h"

// Einstein's notation: a letter for each dimension of each operand, and those of the result in its
// order. What it says is found here, for single tiles (the kernel) and for tensors of many
// (query/tensors) alike.

namespace tessera {

bool has_letter(const std::string& letters, char letter);

/// For each of `wanted`, which dimension of `letters` it is.
std::vector<int> axes_of(const std::string& wanted, const std::string& letters);

/// A letter that stands twice: of its two dimensions only the diagonal counts.
struct Repetition {
  int first = 0, again = 0;
  std::vector<int> order = {};  // of the dimensions, these two at the end
  std::string letters = {};     // of the diagonal, which is the last dimension
};
/// The first one; none if each letter stands once.
std::optional<Repetition> repetition_in(const std::string& letters);

/// What is multiplied and summed. 'ik,kj->ij' is the product of two matrices.
struct EinsumSpec {
  std::vector<std::string> operands;
  std::string output;

  /// Without an arrow the result has the letters that occur once, in alphabetical order, as in
  /// NumPy. An ellipsis stands for the dimensions of an operand that have no letter; they get
  /// letters that the text does not use, the same from the last one on. TypeError that says what is
  /// wrong with the text. `ranks`: of each operand.
  static EinsumSpec parse(std::string_view text, const std::vector<int>& ranks);
  std::string to_string() const;  // always with its arrow

  /// The extent of each letter, for as many shapes as there are operands. TypeError if they do not
  /// fit, or the result has too many dimensions. `broadcasts`: an operand may have 1 where another
  /// one has more.
  using Extents = std::map<char, std::int64_t>;
  Extents extents(const std::vector<Shape>& shapes, bool broadcasts = false) const;

  /// An operand is summed over the letters that neither the result nor another operand has, before
  /// it is multiplied.
  struct SummedFirst {
    std::vector<std::int64_t> axes = {};
    std::string left = {};  // the letters of the other dimensions
  };
  SummedFirst summed_first(std::size_t operand) const;

  /// What the letters of two operands do, each in the order of the first operand that has it.
  struct Roles {
    std::string batch = {};   // in both operands and in the result
    std::string summed = {};  // in both operands alone
    std::string left = {};    // in the first operand alone
    std::string right = {};   // in the second one alone
  };
  Roles roles() const;
};

}  // namespace tessera
