#include "kernel/einsum_spec.h"

#include <algorithm>
#include <cctype>

#include "base/check.h"

namespace tessera {
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
        std::any_of(
            spec.operands.begin(), spec.operands.end(),
            [&](const std::string& operand) { return operand.find(letter) != std::string::npos; }),
        "einsum: the index {} in the output of '{}' is not an index of any operand", letter, text);
  }
  return spec;
}

std::string EinsumSpec::to_string() const {
  std::string text;
  for (std::size_t i = 0; i < operands.size(); ++i) text += (i == 0 ? "" : ",") + operands[i];
  return text + "->" + output;
}

}  // namespace tessera
