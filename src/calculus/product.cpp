#include "calculus/product.h"

#include <algorithm>
#include <array>

namespace tessera::calculus {
namespace {

struct Semiring {
  Monoid monoid;
  std::string_view combine;
};
constexpr std::array semirings = {
    Semiring{Monoid::sum, "mul"},        Semiring{Monoid::max, "add"},
    Semiring{Monoid::min, "add"},        Semiring{Monoid::max, "minimum"},
    Semiring{Monoid::min, "maximum"},    Semiring{Monoid::any, "logical_and"},
    Semiring{Monoid::all, "logical_or"},
};

void take_factors(const Term& term, std::string_view combine, std::vector<Term>& into) {
  const auto* product = as<term::Applied>(term);
  if (product == nullptr || product->function->name != combine) return into.push_back(term);
  for (const Term& part : product->arguments) take_factors(part, combine, into);
}

/// Whether a condition only says that factors are not zero.
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

bool distributes(Monoid monoid, std::string_view combine) {
  return std::any_of(semirings.begin(), semirings.end(), [&](const Semiring& known) {
    return known.monoid == monoid && known.combine == combine;
  });
}

std::optional<Product> product_of(const Term& term) {
  const auto* fold = as<term::Fold>(term);
  const auto* chosen = as<term::Choice>(term);
  if (chosen != nullptr) {
    const auto* otherwise = as<term::Number>(chosen->no);
    if (otherwise == nullptr || otherwise->value.as<bool>()) return std::nullopt;
  }
  Product found{.combine = "mul", .factors = {}, .folds = fold != nullptr};
  const Term& value = fold != nullptr ? fold->value : chosen != nullptr ? chosen->yes : term;
  if (fold != nullptr) {
    found.monoid = fold->monoid;
    found.folded = fold->indices;
    if (const auto* top = as<term::Applied>(value);
        top && distributes(fold->monoid, top->function->name))
      found.combine = top->function->name;
  }
  take_factors(value, found.combine, found.factors);
  const Term condition = fold != nullptr     ? fold->condition
                         : chosen != nullptr ? chosen->condition
                                             : nullptr;
  const bool annihilates = found.combine == "mul" && found.monoid == Monoid::sum;
  if (condition != nullptr && !(annihilates && asks_for_factors(condition, found.factors)))
    return std::nullopt;
  return found;
}

}  // namespace tessera::calculus
