#pragma once

#include <map>
#include <set>
#include <vector>

#include "kernel/form/compiled_form.h"

namespace tessera::jit {

/// A form as it is compiled, and the order of its loops.
///
/// Folds of the same shape have the same indices, so that terms that differ in the names of their
/// indices are equal. Equal terms are one node.
///
/// The innermost loop over the result goes along its last index, the *lane*. A fold that reads its
/// arguments better along the lane than along its own indices is computed *across*: for a strip of
/// lane positions at once, in an array, before the loop that needs its values.
class Schedule {
 public:
  explicit Schedule(const FormToCompile& form);

  const TypedForm& form() const { return form_; }
  const Term& value() const { return form_.form.value; }
  int rank() const { return form_.form.rank; }
  int unit_dimension(int argument) const { return units_[static_cast<std::size_t>(argument)]; }
  bool checked() const { return checked_; }
  bool partial() const { return partial_; }
  /// Of what the code writes.
  DType result_dtype() const;
  /// The index of the form as it was given.
  int given_index(int index) const { return given_[static_cast<std::size_t>(index)]; }

  int lane() const { return rank() - 1; }
  /// How many loops over result indices are around the strips of the lane.
  int loops_around_strips() const { return around_; }
  bool is_across(const Term& fold) const { return across_.contains(fold.get()); }
  /// Folds that are computed across, each behind those that it contains.
  const std::vector<Term>& across() const { return across_order_; }
  /// The index whose positions several calls share; -1 if there is none.
  int shared_index() const;
  /// The indices of a fold, outermost loop first.
  std::vector<int> loops_of(const Term& fold) const;
  /// Folds with the same indices whose values are needed whatever conditions say: one loop may
  /// compute them all.
  std::vector<Term> folded_alike(const Term& fold) const;

  const std::set<int>& free(const Term& term) const { return free_.at(term.get()); }
  /// Whether it reads an argument at a position that is inside only if the conditions around it
  /// hold: it is computed nowhere else.
  bool is_guarded(const Term& term) const { return guarded_.at(term.get()); }
  bool contains(const Term& term, const Term& part) const;
  bool contains_fold(const Term& term) const { return folds_in_.at(term.get()) > 0; }

 private:
  void describe(const Term& term);
  void collect_unconditional(const Term& term);
  void choose_across();
  void compute_across(const Term& fold);
  /// How many elements a loop over an index reads that do not lie next to each other.
  int far_reads(const Term& term, int index) const;

  TypedForm form_;
  std::vector<int> units_, given_;
  bool checked_, partial_;
  int around_ = 0;
  std::map<const TermNode*, std::set<int>> free_;
  std::map<const TermNode*, bool> guarded_;
  std::map<const TermNode*, int> folds_in_;
  std::set<const TermNode*> across_;
  std::vector<Term> across_order_, unconditional_, folds_;
};

/// The form with equal terms as one node, and which index of the given form each index stands for.
struct SharedTerms {
  IndexForm form;
  std::vector<int> given;
};
SharedTerms with_shared_terms(const IndexForm& form);

}  // namespace tessera::jit
