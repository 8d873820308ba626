#include "calculus/stages.h"

#include <algorithm>

namespace tessera::calculus {
namespace {

class Separation {
 public:
  Separation(const Definition& from, const std::function<bool(const term::Fold&)>& apart)
      : from_(from), apart_(apart), result_(from) {
    form_ = typed_of(from);
  }

  Definition run() {
    const Term& value = from_.form.value;
    result_.form.value =
        as<term::Fold>(value) != nullptr ? inside(value, nullptr) : visited(value, nullptr);
    return std::move(result_);
  }

 private:
  /// `guard`: where the term is computed at all; null: everywhere.
  Term inside(const Term& term, const Term& guard) {
    const auto* choice = as<term::Choice>(term);
    const auto* fold = as<term::Fold>(term);
    std::vector<Term> parts = parts_of(term);
    for (std::size_t p = 0; p < parts.size(); ++p) {
      Term own = guard;
      if (choice != nullptr && p == 1) own = both(guard, choice->condition);
      if (choice != nullptr && p == 2)
        own = both(guard, applied("logical_not", {choice->condition}));
      if (fold != nullptr && p == 0 && fold->condition != nullptr)
        own = both(guard, fold->condition);
      parts[p] = visited(parts[p], own);
    }
    return with_parts(term, parts);
  }

  static Term both(const Term& guard, const Term& condition) {
    return guard == nullptr ? condition : choice(guard, condition, number(Scalar(false)));
  }

  Term visited(const Term& term, const Term& guard) {
    const auto* own = as<term::Fold>(term);
    if (own == nullptr || !apart_(*own)) return inside(term, guard);
    // Elsewhere it might read what does not exist.
    Term fold = term;
    if (guard != nullptr && reads_elsewhere(term))
      fold = tessera::fold(
          own->monoid, own->indices, own->value,
          both(guard, own->condition == nullptr ? number(Scalar(true)) : own->condition));
    const std::set<int> free = free_indices(fold);
    const std::vector<int> result(free.begin(), free.end());
    for (const auto& [known, read] : separated_)
      if (same(known, fold)) return read;
    Term read = element_at(static_cast<int>(result_.arguments.size()), result);
    result_.arguments.push_back(part_of(form_, fold, result, from_.arguments));
    separated_.emplace_back(fold, read);
    return read;
  }

  /// Whether it reads elements at other positions than indices by themselves.
  static bool reads_elsewhere(const Term& term) {
    if (const auto* read = as<term::Element>(term))
      if (std::any_of(read->at.begin(), read->at.end(),
                      [](const Term& at) { return as<term::Position>(at) == nullptr; }))
        return true;
    const std::vector<Term> parts = parts_of(term);
    return std::any_of(parts.begin(), parts.end(), reads_elsewhere);
  }

  const Definition& from_;
  const std::function<bool(const term::Fold&)>& apart_;
  Definition result_;
  TypedForm form_;
  std::vector<std::pair<Term, Term>> separated_;
};

}  // namespace

Definition with_folds_apart(const Definition& definition,
                            const std::function<bool(const term::Fold&)>& apart) {
  return Separation(definition, apart).run();
}

}  // namespace tessera::calculus
