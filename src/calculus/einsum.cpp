#include "calculus/einsum.h"

#include <algorithm>

#include "calculus/operations.h"

namespace tessera::calculus {
namespace {

DType common_dtype(const std::vector<Array>& operands) {
  DType dtype = operands.at(0).type.dtype;
  for (const Array& operand : operands) dtype = promote(dtype, operand.type.dtype);
  return dtype;
}

}  // namespace

Array einsum(const EinsumSpec& spec, std::vector<Array> operands, Monoid reduce,
             std::string_view combine) {
  std::vector<Shape> shapes;
  for (const Array& operand : operands) shapes.push_back(operand.type.shape);
  const EinsumSpec::Extents extents = spec.extents(shapes, true);
  IndexForm form;
  std::map<char, int> indices;
  const auto index_of = [&](char letter) {
    const auto [known, added] = indices.emplace(letter, static_cast<int>(form.indices.size()));
    if (added) form.indices.push_back({std::string(1, letter), extents.at(letter)});
    return known->second;
  };
  for (char letter : spec.output) (void)index_of(letter);
  form.rank = static_cast<int>(form.indices.size());
  // What is added up as numbers is not first taken for truth values.
  const DType dtype = common_dtype(operands);
  const bool folds = std::any_of(extents.begin(), extents.end(), [&](const auto& one) {
    return !has_letter(spec.output, one.first);
  });
  for (std::size_t o = 0; o < operands.size(); ++o) {
    Array& operand = operands[o];
    if (operand.type.dtype == DType::boolean && dtype != DType::boolean && folds)
      operand = converted(operand, dtype);
    std::vector<Term> at;
    for (std::size_t d = 0; d < spec.operands[o].size(); ++d) {
      const char letter = spec.operands[o][d];
      const bool spreads = shapes[o][static_cast<int>(d)] != extents.at(letter);
      at.push_back(spreads ? integer(0) : position(index_of(letter)));
    }
    const Term factor = element(static_cast<int>(o), at);
    form.value = form.value == nullptr ? factor : applied(combine, {form.value, factor});
  }
  std::vector<int> folded;
  for (std::size_t index = static_cast<std::size_t>(form.rank); index < form.indices.size();
       ++index)
    folded.push_back(static_cast<int>(index));
  if (!folded.empty()) form.value = fold(reduce, folded, form.value);
  return defined(std::move(form), std::move(operands));
}

Array einsum(const EinsumSpec& spec, std::vector<Array> operands) {
  const bool truths = common_dtype(operands) == DType::boolean;
  return einsum(spec, std::move(operands), truths ? Monoid::any : Monoid::sum,
                truths ? "logical_and" : "mul");
}

}  // namespace tessera::calculus
