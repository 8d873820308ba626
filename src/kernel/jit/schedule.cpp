#include "kernel/jit/schedule.h"

#include <algorithm>

namespace tessera::jit {
namespace {

bool is_position(const Term& term, int index) {
  const auto* read = as<term::Position>(term);
  return read != nullptr && read->index == index;
}

/// Whether it grows or falls by one from each position of the index to the next.
bool steps_with(const Term& term, int index) {
  if (is_position(term, index)) return true;
  const auto* function = as<term::Applied>(term);
  if (function == nullptr) return false;
  const std::string_view name = function->function->name;
  if (name != "add" && name != "sub") return false;
  int with = 0, other = 0;
  for (const Term& part : function->arguments)
    (steps_with(part, index)              ? with
     : free_indices(part).contains(index) ? other
                                          : with) +=
        steps_with(part, index) || free_indices(part).contains(index) ? 1 : 0;
  return with == 1 && other == 0;
}

}  // namespace

Schedule::Schedule(const FormToCompile& form)
    : units_(form.unit_dimensions), checked_(form.checked), partial_(form.partial) {
  SharedTerms shared = with_shared_terms(form.form.form);
  given_ = std::move(shared.given);
  form_ = typed(std::move(shared.form), form.form.arguments);
  describe(value());
  collect_unconditional(value());
  choose_across();
}

void Schedule::describe(const Term& term) {
  if (free_.contains(term.get())) return;
  bool guarded = false;
  int folds = 0;
  for (const Term& part : parts_of(term)) {
    describe(part);
    guarded = guarded || guarded_.at(part.get());
    folds += folds_in_.at(part.get());
  }
  if (const auto* read = as<term::Element>(term))
    for (const Term& at : read->at) guarded = guarded || as<term::Position>(at) == nullptr;
  if (as<term::Fold>(term) != nullptr) {
    ++folds;
    folds_.push_back(term);  // behind those that it contains
  }
  free_.emplace(term.get(), free_indices(term));
  guarded_.emplace(term.get(), guarded);
  folds_in_.emplace(term.get(), std::min(folds, 1000));
}

void Schedule::collect_unconditional(const Term& term) {
  if (const auto* choice = as<term::Choice>(term)) return collect_unconditional(choice->condition);
  if (const auto* fold = as<term::Fold>(term)) {
    if (std::find(unconditional_.begin(), unconditional_.end(), term) != unconditional_.end())
      return;
    unconditional_.push_back(term);
    return collect_unconditional(fold->condition == nullptr ? fold->value : fold->condition);
  }
  for (const Term& part : parts_of(term)) collect_unconditional(part);
}

bool Schedule::contains(const Term& term, const Term& part) const {
  if (term == part) return true;
  if (folds_in_.at(term.get()) == 0) return false;
  const std::vector<Term> parts = parts_of(term);
  return std::any_of(parts.begin(), parts.end(), [&](const Term& p) { return contains(p, part); });
}

int Schedule::far_reads(const Term& term, int index) const {
  int far = 0;
  if (const auto* read = as<term::Element>(term)) {
    const int unit = unit_dimension(read->argument);
    for (std::size_t d = 0; d < read->at.size(); ++d)
      if (free(read->at[d]).contains(index) &&
          !(std::cmp_equal(d, unit) && steps_with(read->at[d], index)))
        far = 1;
  }
  for (const Term& part : parts_of(term)) far += far_reads(part, index);
  return far;
}

void Schedule::choose_across() {
  around_ = std::max(0, rank() - 1);
  if (rank() == 0) return;
  for (const Term& fold : unconditional_) {
    const std::set<int>& reads = free(fold);
    // All that it reads is bound around the lanes.
    if (!reads.contains(lane()) || *reads.rbegin() >= rank() || is_guarded(fold)) continue;
    const int innermost = loops_of(fold).empty() ? -1 : loops_of(fold).back();
    if (innermost >= 0 && far_reads(fold, lane()) < far_reads(fold, innermost))
      compute_across(fold);
  }
  for (const Term& fold : folds_) {
    if (!is_across(fold)) continue;
    across_order_.push_back(fold);
    int bound = 0;
    while (bound < rank() - 1 && free(fold).contains(bound)) ++bound;
    around_ = std::min(around_, bound);
  }
}

void Schedule::compute_across(const Term& fold) {
  across_.insert(fold.get());
  // What it contains and depends on the lane has to be known for the whole strip as well.
  for (const Term& inner : folds_)
    if (inner != fold && !is_across(inner) && contains(fold, inner) &&
        free(inner).contains(lane()) && *free(inner).rbegin() < rank())
      compute_across(inner);
}

DType Schedule::result_dtype() const {
  if (!partial_) return form_.result.dtype;
  const auto* fold = as<term::Fold>(value());
  return state_dtype(fold->monoid, form_.dtype(fold->value));
}

int Schedule::shared_index() const {
  if (partial_) return as<term::Fold>(value())->indices[0];
  if (rank() == 0) return -1;
  return around_ == 0 ? lane() : 0;
}

std::vector<int> Schedule::loops_of(const Term& term) const {
  const auto* fold = as<term::Fold>(term);
  std::vector<int> loops = fold->indices;
  if (gives_position(fold->monoid) || loops.size() < 2) return loops;
  // The loop that reads neighbours is the innermost one.
  const auto nearest = std::min_element(loops.rbegin(), loops.rend(), [&](int a, int b) {
    return far_reads(term, a) < far_reads(term, b);
  });
  std::rotate(std::prev(nearest.base()), nearest.base(), loops.end());
  // A fold inside that some of the indices do not concern is computed outside of their loops.
  const auto concerns_less = [&](int index) {
    return std::any_of(folds_.begin(), folds_.end(), [&](const Term& inner) {
      if (inner == term || !contains(term, inner) || !free(inner).contains(index)) return false;
      return std::any_of(loops.begin(), loops.end(),
                         [&](int other) { return !free(inner).contains(other); });
    });
  };
  std::stable_partition(loops.begin(), loops.end(), concerns_less);
  return loops;
}

std::vector<Term> Schedule::folded_alike(const Term& term) const {
  std::vector<Term> alike = {term};
  const auto* fold = as<term::Fold>(term);
  for (const Term& other : unconditional_) {
    if (other == term || as<term::Fold>(other)->indices != fold->indices || is_guarded(other) ||
        is_across(other))
      continue;
    if (std::none_of(alike.begin(), alike.end(), [&](const Term& known) {
          return contains(known, other) || contains(other, known);
        }))
      alike.push_back(other);
  }
  return alike;
}

}  // namespace tessera::jit
