#include "query/tensors/einsum.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/check.h"
#include "calculus/einsum.h"
#include "calculus/operations.h"

namespace tessera::query {
namespace {

constexpr std::array<std::string_view, 6> reductions = {"sum", "product", "min",
                                                        "max", "all",     "any"};
constexpr std::array<std::string_view, 6> combinations = {"mul",     "add",         "minimum",
                                                          "maximum", "logical_and", "logical_or"};

}  // namespace

calculus::Array einsum(const EinsumCall& call, const std::vector<calculus::Array>& operands) {
  std::vector<int> ranks;
  for (const calculus::Array& operand : operands) ranks.push_back(operand.type.shape.rank());
  const EinsumSpec spec = EinsumSpec::parse(call.text, ranks);
  const std::string reduce = call.reduce.value_or("sum"), combine = call.combine.value_or("mul");
  if (reduce == "sum" && combine == "mul") return calculus::einsum(spec, operands);
  TESSERA_REQUIRE(
      TypeError, std::find(reductions.begin(), reductions.end(), reduce) != reductions.end(),
      "einsum: reduce must be one of {}, not '{}'", fmt::join(reductions, ", "), reduce);
  TESSERA_REQUIRE(
      TypeError, std::find(combinations.begin(), combinations.end(), combine) != combinations.end(),
      "einsum: combine must be one of {}, not '{}'", fmt::join(combinations, ", "), combine);
  const calculus::Array made = calculus::einsum(spec, operands, *monoid_named(reduce), combine);
  // Also where there is nothing to fold.
  const bool tells = reduce == "all" || reduce == "any";
  return tells ? calculus::converted(made, DType::boolean) : made;
}

}  // namespace tessera::query
