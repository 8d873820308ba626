#include "kernel/einsum_spec.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/check.h"

namespace tessera {

bool has_letter(const std::string& letters, char letter) {
  return letters.find(letter) != std::string::npos;
}

std::vector<int> axes_of(const std::string& wanted, const std::string& letters) {
  std::vector<int> axes;
  for (char letter : wanted) axes.push_back(static_cast<int>(letters.find(letter)));
  return axes;
}

std::optional<Repetition> repetition_in(const std::string& letters) {
  for (std::size_t first = 0; first < letters.size(); ++first) {
    const std::size_t again = letters.find(letters[first], first + 1);
    if (again == std::string::npos) continue;
    Repetition found{static_cast<int>(first), static_cast<int>(again)};
    for (std::size_t d = 0; d < letters.size(); ++d) {
      if (d == first || d == again) continue;
      found.order.push_back(static_cast<int>(d));
      found.letters += letters[d];
    }
    found.order.push_back(found.first);
    found.order.push_back(found.again);
    found.letters += letters[first];
    return found;
  }
  return std::nullopt;
}

namespace {

std::string implicit_output(const std::vector<std::string>& operands) {
  std::string all, output;
  for (const std::string& operand : operands) all += operand;
  for (char letter : all)
    if (std::count(all.begin(), all.end(), letter) == 1) output += letter;
  std::sort(output.begin(), output.end());
  return output;
}

}  // namespace

EinsumSpec EinsumSpec::parse(std::string_view text) {
  EinsumSpec spec{{""}, ""};
  bool in_output = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ') continue;
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      (in_output ? spec.output : spec.operands.back()) += c;
    } else if (c == ',' && !in_output) {
      spec.operands.emplace_back();
    } else if (c == '-' && !in_output && i + 1 < text.size() && text[i + 1] == '>') {
      in_output = true;
      ++i;
    } else {
      throw TypeError(fmt::format(
          "einsum: unexpected '{}' in '{}': expected letters, ',' or '->'{}", c, text,
          c == '.' ? "; an ellipsis is not supported: write a letter for each dimension" : ""));
    }
  }
  if (!in_output) spec.output = implicit_output(spec.operands);
  for (std::size_t i = 0; i < spec.output.size(); ++i) {
    const char letter = spec.output[i];
    TESSERA_REQUIRE(TypeError, spec.output.find(letter) == i,
                    "einsum: the output of '{}' has the index {} twice", text, letter);
    TESSERA_REQUIRE(
        TypeError,
        std::any_of(spec.operands.begin(), spec.operands.end(),
                    [&](const std::string& operand) { return has_letter(operand, letter); }),
        "einsum: the index {} in the output of '{}' is not an index of any operand", letter, text);
  }
  return spec;
}

std::string EinsumSpec::to_string() const {
  std::string text;
  for (std::size_t i = 0; i < operands.size(); ++i) text += (i == 0 ? "" : ",") + operands[i];
  return text + "->" + output;
}

EinsumSpec::Extents EinsumSpec::extents(const std::vector<Shape>& shapes) const {
  TESSERA_REQUIRE(TypeError, std::cmp_less_equal(output.size(), max_rank),
                  "einsum: the output of '{}' has {} dimensions, but the maximum is {}",
                  to_string(), output.size(), max_rank);
  std::map<char, std::pair<std::int64_t, const Shape*>> found;
  for (std::size_t o = 0; o < operands.size(); ++o) {
    const std::string& letters = operands[o];
    const Shape& shape = shapes[o];
    TESSERA_REQUIRE(TypeError, std::cmp_equal(letters.size(), shape.size()),
                    "einsum: '{}' has {} indices for a tensor of {}", letters, letters.size(),
                    tessera::to_string(shape));
    for (int d = 0; d < shape.rank(); ++d) {
      const char letter = letters[static_cast<std::size_t>(d)];
      const auto [known, added] = found.emplace(letter, std::pair(shape[d], &shape));
      TESSERA_REQUIRE(TypeError, added || known->second.first == shape[d],
                      "einsum: shapes {} and {} do not match '{}': index {} has sizes {} and {}",
                      tessera::to_string(*known->second.second), tessera::to_string(shape),
                      to_string(), letter, known->second.first, shape[d]);
    }
  }
  Extents extents;
  for (const auto& [letter, extent] : found) extents.emplace(letter, extent.first);
  return extents;
}

EinsumSpec::SummedFirst EinsumSpec::summed_first(std::size_t operand) const {
  std::string wanted = output;
  for (std::size_t o = 0; o < operands.size(); ++o)
    if (o != operand) wanted += operands[o];
  SummedFirst found;
  const std::string& letters = operands[operand];
  for (std::size_t d = 0; d < letters.size(); ++d)
    if (has_letter(wanted, letters[d]))
      found.left += letters[d];
    else
      found.axes.push_back(static_cast<std::int64_t>(d));
  return found;
}

EinsumSpec::Roles EinsumSpec::roles() const {
  const std::string &a = operands[0], &b = operands[1];
  Roles roles;
  for (char letter : a)
    if (!has_letter(b, letter))
      roles.left += letter;
    else
      (has_letter(output, letter) ? roles.batch : roles.summed) += letter;
  for (char letter : b)
    if (!has_letter(a, letter)) roles.right += letter;
  return roles;
}

}  // namespace tessera
