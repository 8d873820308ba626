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

}  // namespace

bool distributes(Monoid monoid, std::string_view combine) {
  return std::any_of(semirings.begin(), semirings.end(), [&](const Semiring& known) {
    return known.monoid == monoid && known.combine == combine;
  });
}

namespace {

/// Whether the indices of a fold are those of another one: the same sum, twice.
bool is_taken(const term::Fold& fold, const Product& by) {
  return std::any_of(fold.indices.begin(), fold.indices.end(), [&](int index) {
    return std::find(by.folded.begin(), by.folded.end(), index) != by.folded.end();
  });
}

/// Whether a term has a fold of its own over what the product is folded over: one that it shares.
bool shares_a_fold(const Term& term, const Product& with) {
  if (const auto* fold = as<term::Fold>(term); fold != nullptr && is_taken(*fold, with))
    return true;
  const std::vector<Term> parts = parts_of(term);
  return std::any_of(parts.begin(), parts.end(),
                     [&](const Term& part) { return shares_a_fold(part, with); });
}

/// False if a fold that is a factor cannot become part of the product.
bool take_factors(const Term& term, bool with_folds, Product& into) {
  if (const auto* product = as<term::Applied>(term);
      product != nullptr && product->function->name == into.combine)
    return std::all_of(product->arguments.begin(), product->arguments.end(),
                       [&](const Term& part) { return take_factors(part, with_folds, into); });
  const auto* fold = as<term::Fold>(term);
  const bool joins = with_folds && fold != nullptr && fold->condition == nullptr &&
                     distributes(fold->monoid, into.combine) &&
                     (!into.folds || into.monoid == fold->monoid);
  if (!joins) {
    into.factors.push_back(term);
    return true;
  }
  if (is_taken(*fold, into)) return false;
  into.folds = true;
  into.monoid = fold->monoid;
  into.folded.insert(into.folded.end(), fold->indices.begin(), fold->indices.end());
  return take_factors(fold->value, with_folds, into);
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
  const Product without_folds = found;
  const bool joined = take_factors(value, true, found);
  if (!joined || std::any_of(found.factors.begin(), found.factors.end(),
                             [&](const Term& factor) { return shares_a_fold(factor, found); })) {
    found = without_folds;
    (void)take_factors(value, false, found);
  }
  const Term condition = fold != nullptr     ? fold->condition
                         : chosen != nullptr ? chosen->condition
                                             : nullptr;
  const bool annihilates = found.combine == "mul" && found.monoid == Monoid::sum;
  if (condition != nullptr && !(annihilates && asks_for_factors(condition, found.factors)))
    return std::nullopt;
  return found;
}

}  // namespace tessera::calculus
