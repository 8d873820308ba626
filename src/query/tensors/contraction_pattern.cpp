#include "query/tensors/contraction_pattern.h"

#include <algorithm>

namespace tessera::query {
namespace {

constexpr int most_letters = 52;

char letter_of(int index) { return static_cast<char>(index < 26 ? 'a' + index : 'A' + index - 26); }

/// The factors of a product, each an element at indices by themselves.
bool factors(const Term& term, const TypedForm& form, Contraction& into,
             std::vector<Term>& elements) {
  if (const auto* product = as<term::Applied>(term))
    return product->function->name == "mul" &&
           factors(product->arguments[0], form, into, elements) &&
           factors(product->arguments[1], form, into, elements);
  const auto* read = as<term::Element>(term);
  if (read == nullptr) return false;
  std::string letters;
  const Shape& shape = form.arguments[static_cast<std::size_t>(read->argument)].shape;
  for (std::size_t d = 0; d < read->at.size(); ++d) {
    const auto* index = as<term::Position>(read->at[d]);
    if (index == nullptr ||
        form.extents[static_cast<std::size_t>(index->index)] != shape[static_cast<int>(d)])
      return false;
    letters += letter_of(index->index);
  }
  into.spec.operands.push_back(letters);
  into.arguments.push_back(read->argument);
  elements.push_back(term);
  return true;
}

/// Whether a condition only says that factors are not zero: where one is, the product is too.
bool asks_for_factors(const Term& condition, const std::vector<Term>& factors) {
  const auto* asked = as<term::Applied>(condition);
  if (asked == nullptr) return false;
  if (asked->function->name == "logical_and")
    return asks_for_factors(asked->arguments[0], factors) &&
           asks_for_factors(asked->arguments[1], factors);
  const auto* zero = asked->arguments.size() == 2 ? as<term::Number>(asked->arguments[1]) : nullptr;
  return asked->function->name == "not_equal" && zero != nullptr && !zero->value.as<bool>() &&
         std::any_of(factors.begin(), factors.end(),
                     [&](const Term& factor) { return same(factor, asked->arguments[0]); });
}

}  // namespace

std::optional<Contraction> contraction_of(const TypedForm& form) {
  if (form.extents.size() > most_letters || form.result.dtype == DType::boolean)
    return std::nullopt;
  const auto* sum = as<term::Fold>(form.form.value);
  const auto* chosen = as<term::Choice>(form.form.value);
  if (sum != nullptr && sum->monoid != Monoid::sum) return std::nullopt;
  const Term& product = sum != nullptr      ? sum->value
                        : chosen != nullptr ? chosen->yes
                                            : form.form.value;
  const Term condition = sum != nullptr      ? sum->condition
                         : chosen != nullptr ? chosen->condition
                                             : nullptr;
  if (chosen != nullptr) {
    const auto* otherwise = as<term::Number>(chosen->no);
    if (otherwise == nullptr || otherwise->value.as<bool>()) return std::nullopt;
  }
  Contraction found;
  std::vector<Term> elements;
  // Booleans are multiplied as truth values, and counted.
  if (!factors(product, form, found, elements) || form.dtype(product) != form.result.dtype ||
      (condition != nullptr && !asks_for_factors(condition, elements)))
    return std::nullopt;
  std::string letters;
  for (const std::string& operand : found.spec.operands) letters += operand;
  for (int index = 0; index < form.form.rank; ++index) found.spec.output += letter_of(index);
  std::string needed = found.spec.output;
  if (sum != nullptr)
    for (int index : sum->indices) needed += letter_of(index);
  const bool all_read = std::all_of(needed.begin(), needed.end(),
                                    [&](char letter) { return has_letter(letters, letter); });
  return all_read ? std::optional(found) : std::nullopt;
}

}  // namespace tessera::query
