#include "query/tensors/fusion.h"

#include <algorithm>

#include "calculus/inlining.h"
#include "calculus/product.h"
#include "kernel/form/compiled_form.h"

namespace tessera::query {
namespace {

using calculus::Array;
using calculus::Definition;

constexpr int most_operations = 200;
/// Of a product, so that planning stays short: the best order of so many is found.
constexpr std::size_t most_factors = 12;

double positions_of(const TypedForm& form) {
  double count = 1;
  for (const std::int64_t extent : form.extents) count *= static_cast<double>(extent);
  return count;
}

/// A sum of products of elements, or one of them.
std::optional<calculus::Product> linear(const Definition& definition) {
  const TypedForm form = calculus::typed_of(definition);
  const auto product = calculus::product_of(form.form.value);
  if (!product || product->combine != "mul" || product->monoid != Monoid::sum) return std::nullopt;
  bool truths = true;
  for (const Term& factor : product->factors) {
    if (as<term::Element>(factor) == nullptr) return std::nullopt;
    truths = truths && form.dtype(factor) == DType::boolean;
  }
  if (truths && (product->folds || product->factors.size() > 1)) return std::nullopt;
  return product;
}

bool is_permutation(const Definition& definition) {
  const auto* read = as<term::Element>(definition.form.value);
  return read != nullptr && std::all_of(read->at.begin(), read->at.end(), [](const Term& at) {
           return as<term::Position>(at) != nullptr;
         });
}

bool is_of_one_dtype(const Definition& definition) {
  const DType dtype = definition.arguments.front().type.dtype;
  return calculus::typed_of(definition).result.dtype == dtype &&
         std::all_of(definition.arguments.begin(), definition.arguments.end(),
                     [&](const Array& argument) { return argument.type.dtype == dtype; });
}

class Fusion {
 public:
  Fusion(const Definition& definition, double worth_compiling,
         const std::map<const Definition*, int>& uses,
         const std::function<bool(const Definition*)>& is_there)
      : current_(definition), worth_compiling_(worth_compiling), uses_(uses), is_there_(is_there) {}

  Definition run() {
    while (const auto product = linear(current_)) {
      if (!inline_one([&](const Definition& argument) { return joins(argument); })) {
        if (product->factors.size() > 1 && product->folds) return current_;
        break;
      }
    }
    // What cannot be worth it is not tried.
    if (positions_of(calculus::typed_of(current_)) * most_operations < worth_compiling_)
      return current_;
    Definition before = current_;
    while (inline_one([&](const Definition& argument) { return is_elementwise(argument); })) {
    }
    return is_worth_it() ? current_ : before;
  }

 private:
  /// Whether nothing else needs it.
  bool is_ours(const Definition& argument) const {
    const auto known = uses_.find(&argument);
    return !is_there_(&argument) && known != uses_.end() && known->second == 1;
  }
  bool joins(const Definition& argument) const {
    if (!is_ours(argument) && !(is_permutation(argument) && !is_there_(&argument))) return false;
    const auto inner = linear(argument), outer = linear(current_);
    if (!inner || inner->factors.size() + outer->factors.size() > most_factors + 1) return false;
    // Numbers of one kind: a product of integers may wrap around before it meets a float.
    const bool alone = inner->factors.size() == 1 && !inner->folds;
    return alone || (is_of_one_dtype(argument) && is_of_one_dtype(current_));
  }
  bool is_elementwise(const Definition& argument) const {
    if (!is_ours(argument) || calculus::has_fold(argument.form.value)) return false;
    const auto is_dense = [](const Array& array) { return calculus::is_dense(array); };
    if (!std::all_of(argument.arguments.begin(), argument.arguments.end(), is_dense) ||
        !std::all_of(current_.arguments.begin(), current_.arguments.end(), is_dense))
      return false;
    // It is computed about as often as it would be by itself.
    const TypedForm outer = calculus::typed_of(current_), inner = calculus::typed_of(argument);
    return positions_of(outer) <= 2 * positions_of(inner) &&
           calculus::operations_in(outer.form.value) + calculus::operations_in(inner.form.value) <=
               most_operations;
  }
  bool is_worth_it() const {
    return positions_of(calculus::typed_of(current_)) *
                   calculus::operations_in(current_.form.value) >=
               worth_compiling_ &&
           form_compiler() != nullptr;
  }

  bool inline_one(const std::function<bool(const Definition&)>& wanted) {
    for (std::size_t a = 0; a < current_.arguments.size(); ++a) {
      const Definition* argument = current_.arguments[a].definition.get();
      if (argument == nullptr || !wanted(*argument)) continue;
      kept_.push_back(current_.arguments[a].definition);
      current_ = calculus::with_inlined(current_, static_cast<int>(a));
      return true;
    }
    return false;
  }

  Definition current_;
  const double worth_compiling_;
  const std::map<const Definition*, int>& uses_;
  const std::function<bool(const Definition*)>& is_there_;
  std::vector<std::shared_ptr<const Definition>> kept_;
};

}  // namespace

Definition fused(const Definition& definition, double worth_compiling,
                 const std::map<const Definition*, int>& uses,
                 const std::function<bool(const Definition*)>& is_there) {
  return Fusion(definition, worth_compiling, uses, is_there).run();
}

}  // namespace tessera::query
