#pragma once

#include <functional>
#include <string>
#include <vector>

#include "calculus/array.h"

namespace tessera::calculus {

/// A comprehension in normal form, as its qualifiers say it one after the other: indices that run
/// independently of each other, and conditions on them. Generators are such indices, a nested
/// comprehension adds its own (the flattening of Fegaras et al., equation 4), equal indices become
/// one (their section VI), and an index that a condition or a key determines is replaced by what it
/// is.
class NormalForm {
 public:
  /// An index from 0 to less than `extent`, as a term.
  Term index(const std::string& name, std::int64_t extent);
  /// An element of an array.
  Term element(const Array& array, std::vector<Term> at);
  /// Only where this holds.
  void require(const Term& condition);

  /// One group for each value of the keys: what the keys are from here on. `extents`: how many
  /// values each may have, where that is known; TypeError for a key of which nobody knows.
  std::vector<Term> group_by(const std::vector<Term>& keys,
                             const std::vector<std::optional<std::int64_t>>& extents);
  bool is_grouped() const { return grouped_; }
  /// The fold of a value of before the grouping over all that is in a group; before any grouping,
  /// over everything.
  Term folded(Monoid monoid, const Term& value);
  /// The fold of a comprehension inside of this one: `value` adds its generators and conditions.
  Term nested(Monoid monoid, const std::function<Term()>& value);
  /// Inside of a nested comprehension: goes through the group around it. What was before the
  /// grouping is, with these indices, what the group has.
  std::map<int, Term> open_group();

  /// The array whose elements at these keys have this value, and are zero elsewhere. TypeError if
  /// that does not determine each element. Without a shape it is as large as the keys are.
  Array array(const std::vector<Term>& keys, const Term& value,
              const std::optional<std::vector<std::int64_t>>& shape);

  /// As it is with what is known by now: equal indices are one.
  Term resolved(const Term& term) const { return substituted(term, replaced_); }
  DType dtype(const Term& term) const;
  const std::vector<std::int64_t>& extents() const { return extents_; }

 private:
  std::int64_t& extent(int index) { return extents_[static_cast<std::size_t>(index)]; }
  int new_index(const std::string& name, std::int64_t extent);
  void replace(int index, const Term& by);
  void equate(const Term& a, const Term& b);
  void keep_inside(const Term& value, std::int64_t extent);
  /// A key as an index of its own: the indices it is made of are replaced by functions of it.
  int own_index(const Term& key, std::optional<std::int64_t> known_extent, bool one_each,
                const std::set<int>& taken);
  Term all_of(const std::vector<Term>& conditions) const;
  std::vector<int> live() const;
  IndexForm form_of(const std::vector<int>& result, const Term& value) const;

  std::vector<std::string> names_;
  std::vector<std::int64_t> extents_;
  std::map<int, Term> replaced_;
  std::set<int> bound_;  // by folds
  std::vector<Term> conditions_;
  std::vector<Array> arguments_;
  bool grouped_ = false;
  std::vector<int> members_;      // what runs inside of a group
  std::vector<Term> of_members_;  // the conditions of before the grouping
  std::set<int> outer_;           // in a nested comprehension: the indices around it
};

}  // namespace tessera::calculus
