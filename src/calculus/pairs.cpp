#include "calculus/pairs.h"

#include <algorithm>

#include "calculus/contraction_order.h"
#include "calculus/product.h"

namespace tessera::calculus {
namespace {

constexpr std::size_t most_bits = 64;
/// How many operations less make up for an array in between.
constexpr double worthwhile = 0.75;

std::uint64_t bits_of(const Term& term) {
  std::uint64_t bits = 0;
  for (int index : free_indices(term)) bits |= std::uint64_t{1} << index;
  return bits;
}

/// The factors of a product while they become fewer.
class Pairs {
 public:
  Pairs(const Definition& definition, const TypedForm& form, const Product& product)
      : form_(form), product_(product), arguments_(definition.arguments) {
    result_bits_ = 0;
    for (int index = 0; index < form.form.rank; ++index) result_bits_ |= std::uint64_t{1} << index;
    for (const Term& factor : product.factors)
      parts_.push_back({factor, bits_of(factor), form.dtype(factor)});
    dtype_ = parts_[0].dtype;
    for (const Part& part : parts_) dtype_ = promote(dtype_, part.dtype);
    for (std::size_t p = 0; p < parts_.size(); ++p) fold_own(p);
  }

  std::optional<Array> run() {
    ContractionProblem problem{{}, result_bits_, {}, max_rank};
    for (const Part& part : parts_) problem.operands.push_back(part.bits);
    for (const std::int64_t extent : form_.extents)
      problem.extents.push_back(static_cast<double>(extent));
    const auto order = cheapest_order(problem);
    if (!order) return std::nullopt;
    double at_once = product_.folds ? 2 : 1;
    for (const std::int64_t extent : form_.extents) at_once *= static_cast<double>(extent);
    at_once *= static_cast<double>(parts_.size() - 1);
    if (order->flops > worthwhile * at_once) return std::nullopt;
    for (const ContractionStep& step : order->steps) multiply(step);
    return arguments_.back();
  }

 private:
  struct Part {
    Term term;
    std::uint64_t bits = 0;
    DType dtype = DType::f64;
    bool open = true;  // not yet multiplied
  };

  /// What only one factor has is folded before it is multiplied.
  void fold_own(std::size_t p) {
    std::uint64_t needed = result_bits_;
    for (std::size_t other = 0; other < parts_.size(); ++other)
      if (other != p) needed |= parts_[other].bits;
    Part& part = parts_[p];
    if ((part.bits & ~needed) == 0) return;
    const Term value = part.dtype == dtype_ ? part.term : cast(dtype_, part.term);
    part = stored(fold(product_.monoid, indices(part.bits & ~needed), value),
                  indices(part.bits & needed), dtype_);
  }

  void multiply(const ContractionStep& step) {
    Part left = parts_[static_cast<std::size_t>(step.left)];
    Part right = parts_[static_cast<std::size_t>(step.right)];
    parts_[static_cast<std::size_t>(step.left)].open = false;
    parts_[static_cast<std::size_t>(step.right)].open = false;
    std::uint64_t needed = result_bits_;
    for (const Part& part : parts_)
      if (part.open) needed |= part.bits;
    // In the arithmetic of the whole product.
    if (promote(left.dtype, right.dtype) != dtype_) {
      Part& smaller = elements(left) < elements(right) ? left : right;
      if (const auto* constant = as<term::Number>(smaller.term))
        smaller.term = number(constant->value.cast(dtype_));
      else
        smaller = stored(cast(dtype_, smaller.term), indices(smaller.bits), dtype_);
    }
    const std::uint64_t all = left.bits | right.bits;
    const bool last =
        std::none_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.open; });
    std::vector<int> kept = indices(all & needed);
    // As a product of matrices has them: what both have, then the rows and the columns.
    const auto role = [&](int index) {
      const std::uint64_t bit = std::uint64_t{1} << index;
      return (left.bits & bit) == 0 ? 2 : (right.bits & bit) == 0 ? 1 : 0;
    };
    if (!last)
      std::stable_sort(kept.begin(), kept.end(), [&](int a, int b) { return role(a) < role(b); });
    Term value = applied(product_.combine, {left.term, right.term});
    if ((all & ~needed) != 0) value = fold(product_.monoid, indices(all & ~needed), value);
    parts_.push_back(stored(value, kept, dtype_));
  }

  double elements(const Part& part) const {
    double count = 1;
    for (int index : indices(part.bits))
      count *= static_cast<double>(form_.extents[static_cast<std::size_t>(index)]);
    return count;
  }

  static std::vector<int> indices(std::uint64_t bits) {
    std::vector<int> found;
    for (int index = 0; std::cmp_less(index, most_bits); ++index)
      if ((bits >> index & 1) != 0) found.push_back(index);
    return found;
  }

  Part stored(const Term& value, const std::vector<int>& result, DType dtype) {
    arguments_.push_back(part_of(form_, value, result, arguments_));
    Part part{element_at(static_cast<int>(arguments_.size()) - 1, result), 0, dtype};
    for (int index : result) part.bits |= std::uint64_t{1} << index;
    return part;
  }

  const TypedForm& form_;
  const Product& product_;
  std::vector<Array> arguments_;
  std::vector<Part> parts_;
  std::uint64_t result_bits_ = 0;
  DType dtype_ = DType::f64;
};

}  // namespace

std::optional<Array> in_pairs(const Definition& definition) {
  const auto product = product_of(definition.form.value);
  if (!product || product->factors.size() < 3) return std::nullopt;
  if (product->folds && !distributes(product->monoid, product->combine)) return std::nullopt;
  const TypedForm form = typed_of(definition);
  if (form.extents.size() > most_bits) return std::nullopt;
  // Each index of the result is one of a factor, and sums of truth values count in numbers.
  std::set<int> read;
  for (const Term& factor : product->factors) read.merge(free_indices(factor));
  for (int index = 0; index < form.form.rank; ++index)
    if (!read.contains(index)) return std::nullopt;
  for (const int index : product->folded)
    if (!read.contains(index)) return std::nullopt;
  const bool truths = std::all_of(product->factors.begin(), product->factors.end(),
                                  [&](const Term& f) { return form.dtype(f) == DType::boolean; });
  if (truths && product->folds && folded_dtype(product->monoid, DType::boolean) != DType::boolean)
    return std::nullopt;
  return Pairs(definition, form, *product).run();
}

}  // namespace tessera::calculus
