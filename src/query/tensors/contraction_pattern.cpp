#include "query/tensors/contraction_pattern.h"

#include <algorithm>

#include "calculus/product.h"

namespace tessera::query {
namespace {

constexpr int most_letters = 52;

char letter_of(int index) { return static_cast<char>(index < 26 ? 'a' + index : 'A' + index - 26); }

/// An element at indices by themselves, and at 0 where there is nothing else.
bool take(const Term& factor, const TypedForm& form, Contraction& into, int& own_letters) {
  const auto* read = as<term::Element>(factor);
  if (read == nullptr) return false;
  std::string letters;
  const Shape& shape = form.arguments[static_cast<std::size_t>(read->argument)].shape;
  for (std::size_t d = 0; d < read->at.size(); ++d) {
    const std::int64_t extent = shape[static_cast<int>(d)];
    const auto* index = as<term::Position>(read->at[d]);
    const auto* fixed = as<term::Number>(read->at[d]);
    if (index != nullptr && form.extents[static_cast<std::size_t>(index->index)] == extent)
      letters += letter_of(index->index);
    else if (fixed != nullptr && extent == 1 && fixed->value.as<std::int64_t>() == 0 &&
             own_letters < most_letters)
      letters += letter_of(own_letters++);  // summed over one element
    else
      return false;
  }
  into.spec.operands.push_back(letters);
  into.arguments.push_back(read->argument);
  return true;
}

/// Whether sums and products are those of numbers, or those of truth values.
bool is_linear(const calculus::Product& product, const TypedForm& form) {
  const bool truths = std::all_of(product.factors.begin(), product.factors.end(),
                                  [&](const Term& f) { return form.dtype(f) == DType::boolean; });
  if (product.folds && product.monoid == Monoid::any)
    return truths && (product.combine == "logical_and" || product.factors.size() == 1);
  return product.combine == "mul" && product.monoid == Monoid::sum && !(truths && product.folds);
}

}  // namespace

std::optional<Contraction> contraction_of(const TypedForm& form) {
  const auto product = calculus::product_of(form.form.value);
  if (!product || form.extents.size() > most_letters || !is_linear(*product, form))
    return std::nullopt;
  Contraction found;
  int own_letters = static_cast<int>(form.extents.size());
  for (const Term& factor : product->factors)
    if (!take(factor, form, found, own_letters)) return std::nullopt;
  std::string letters;
  for (const std::string& operand : found.spec.operands) letters += operand;
  for (int index = 0; index < form.form.rank; ++index) found.spec.output += letter_of(index);
  std::string needed = found.spec.output;
  for (int index : product->folded) needed += letter_of(index);
  const bool all_read = std::all_of(needed.begin(), needed.end(),
                                    [&](char letter) { return has_letter(letters, letter); });
  return all_read ? std::optional(found) : std::nullopt;
}

}  // namespace tessera::query
