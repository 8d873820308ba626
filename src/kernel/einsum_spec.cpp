#include "kernel/einsum_spec.h"

#include <algorithm>
#include <tuple>
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

constexpr char ellipsis = '.';  // in the letters of an operand

std::string implicit_output(const std::vector<std::string>& operands) {
  std::string all, output;
  for (const std::string& operand : operands) all += operand;
  for (char letter : all)
    if (std::count(all.begin(), all.end(), letter) == 1 && letter != ellipsis) output += letter;
  std::sort(output.begin(), output.end());
  return has_letter(all, ellipsis) ? ellipsis + output : output;
}

/// Letters that a text does not use, for as many dimensions as its ellipses may stand for.
std::string spare_letters(std::string_view text, std::size_t count) {
  std::string spare;
  for (char letter = 'Z'; spare.size() < count; letter = letter == 'A' ? 'z' : letter - 1) {
    TESSERA_REQUIRE(TypeError, letter != 'a' - 1, "einsum: '{}' uses too many indices", text);
    if (text.find(letter) == std::string_view::npos) spare += letter;
  }
  return spare;
}

/// Letters in place of ellipses: the last ones of `spare`, as many as there are dimensions.
void expand_ellipses(EinsumSpec& spec, std::string_view text, const std::vector<int>& ranks) {
  std::vector<std::size_t> counts(spec.operands.size(), 0);
  for (std::size_t o = 0; o < spec.operands.size(); ++o) {
    const std::string& letters = spec.operands[o];
    if (!has_letter(letters, ellipsis)) continue;
    TESSERA_REQUIRE(TypeError, std::cmp_greater_equal(ranks[o] + 1, letters.size()),
                    "einsum: operand {} of '{}' has {} indices for a tensor of {} dimension{}", o,
                    text, letters.size() - 1, ranks[o], ranks[o] == 1 ? "" : "s");
    counts[o] = static_cast<std::size_t>(ranks[o]) + 1 - letters.size();
  }
  const std::size_t most = *std::max_element(counts.begin(), counts.end());
  const std::string spare = spare_letters(text, most);
  const auto expand = [&](std::string& letters, std::size_t count) {
    const std::size_t at = letters.find(ellipsis);
    if (at != std::string::npos) letters.replace(at, 1, spare.substr(most - count));
  };
  for (std::size_t o = 0; o < spec.operands.size(); ++o) expand(spec.operands[o], counts[o]);
  TESSERA_REQUIRE(TypeError, most == 0 || has_letter(spec.output, ellipsis),
                  "einsum: the output of '{}' needs an ellipsis for the dimensions that the "
                  "ellipses of its operands stand for",
                  text);
  expand(spec.output, most);
}

}  // namespace

EinsumSpec EinsumSpec::parse(std::string_view text, const std::vector<int>& ranks) {
  EinsumSpec spec{{""}, ""};
  bool in_output = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ') continue;
    std::string& letters = in_output ? spec.output : spec.operands.back();
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      letters += c;
    } else if (c == '.') {
      TESSERA_REQUIRE(TypeError, text.substr(i, 3) == "..." && !has_letter(letters, ellipsis),
                      "einsum: unexpected '.' in '{}': an ellipsis is written '...', once in each "
                      "operand",
                      text);
      letters += ellipsis;
      i += 2;
    } else if (c == ',' && !in_output) {
      spec.operands.emplace_back();
    } else if (c == '-' && !in_output && i + 1 < text.size() && text[i + 1] == '>') {
      in_output = true;
      ++i;
    } else {
      throw TypeError(fmt::format(
          "einsum: unexpected '{}' in '{}': expected letters, '...', ',' or '->'", c, text));
    }
  }
  if (!in_output) spec.output = implicit_output(spec.operands);
  TESSERA_REQUIRE(TypeError, spec.operands.size() == ranks.size(),
                  "einsum: '{}' expects {} tensor{}, found {}", text, spec.operands.size(),
                  spec.operands.size() == 1 ? "" : "s", ranks.size());
  expand_ellipses(spec, text, ranks);
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

EinsumSpec::Extents EinsumSpec::extents(const std::vector<Shape>& shapes, bool broadcasts) const {
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
      auto& [extent, from] = found.emplace(letter, std::pair(shape[d], &shape)).first->second;
      const std::size_t before = letters.find(letter);
      const bool repeated = std::cmp_less(before, d);
      const bool spreads = broadcasts && (!repeated || shape[static_cast<int>(before)] == shape[d]);
      TESSERA_REQUIRE(TypeError, extent == shape[d] || (spreads && (extent == 1 || shape[d] == 1)),
                      "einsum: shapes {} and {} do not match '{}': index {} has sizes {} and {}",
                      tessera::to_string(*from), tessera::to_string(shape), to_string(), letter,
                      extent, shape[d]);
      if (extent == 1) std::tie(extent, from) = std::pair(shape[d], &shape);
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
