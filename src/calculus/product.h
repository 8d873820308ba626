#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "kernel/form/term.h"

namespace tessera::calculus {

/// A fold of a product: of sums of products as in linear algebra, and of what else distributes as
/// they do, such as the least of sums.
struct Product {
  std::string_view combine;  // what multiplies two factors
  std::vector<Term> factors;
  bool folds = false;
  Monoid monoid = Monoid::sum;
  std::vector<int> folded = {};  // the indices that it is folded over
};

/// Whether a factor that lacks the index of a fold may be taken out of it.
bool distributes(Monoid monoid, std::string_view combine);

/// A term as the fold of a product, or as a product without a fold. A factor that is such a fold
/// itself becomes part of it. A condition that only says that factors are not zero is left out:
/// where one is, so is their product. Nothing if there is another one.
std::optional<Product> product_of(const Term& term);

}  // namespace tessera::calculus
