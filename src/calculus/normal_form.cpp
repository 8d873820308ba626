#include "calculus/normal_form.h"

#include <algorithm>

#include "base/check.h"
#include "calculus/bounds.h"
#include "calculus/inverse.h"

namespace tessera::calculus {
namespace {

bool reads_only(const Term& term, const std::set<int>& indices) {
  const std::set<int> read = free_indices(term);
  return std::includes(indices.begin(), indices.end(), read.begin(), read.end());
}

bool reads_elements(const Term& term) {
  if (as<term::Element>(term) != nullptr) return true;
  const std::vector<Term> parts = parts_of(term);
  return std::any_of(parts.begin(), parts.end(), reads_elements);
}

/// The conjuncts of a condition.
void split(const Term& condition, std::vector<Term>& into) {
  const auto* both = as<term::Applied>(condition);
  if (both == nullptr || both->function->name != "logical_and") return into.push_back(condition);
  for (const Term& part : both->arguments) split(part, into);
}

/// Whether its value is zero if all folds in it are over nothing.
bool is_zero_of_nothing(const Term& term) {
  if (const auto* folded = as<term::Fold>(term))
    return folded->monoid == Monoid::sum || folded->monoid == Monoid::any;
  if (const auto* cast = as<term::Cast>(term)) return is_zero_of_nothing(cast->value);
  const auto* function = as<term::Applied>(term);
  if (function == nullptr) return false;
  const std::string_view name = function->function->name;
  if (name == "add" || name == "sub" || name == "neg" || name == "sqrt" || name == "square")
    return std::all_of(function->arguments.begin(), function->arguments.end(), is_zero_of_nothing);
  return false;
}

}  // namespace

int NormalForm::new_index(const std::string& name, std::int64_t extent) {
  names_.push_back(name);
  extents_.push_back(extent);
  return static_cast<int>(extents_.size()) - 1;
}

Term NormalForm::index(const std::string& name, std::int64_t extent) {
  return position(new_index(name, extent));
}

Term NormalForm::element(const Array& array, std::vector<Term> at) {
  const auto same_array = [&](const Array& known) {
    return known.source == array.source && known.definition == array.definition;
  };
  auto known = std::find_if(arguments_.begin(), arguments_.end(), same_array);
  if (known == arguments_.end()) known = arguments_.insert(known, array);
  return tessera::element(static_cast<int>(known - arguments_.begin()), std::move(at));
}

void NormalForm::replace(int index, const Term& by) {
  const std::map<int, Term> one = {{index, by}};
  for (auto& [other, term] : replaced_) term = substituted(term, one);
  for (Term& condition : conditions_) condition = substituted(condition, one);
  for (Term& condition : of_members_) condition = substituted(condition, one);
  replaced_.emplace(index, by);
}

void NormalForm::keep_inside(const Term& value, std::int64_t extent) {
  for (const Term& condition :
       {applied("greater_equal", {value, integer(0)}), applied("less", {value, integer(extent)})})
    if (decided(condition, extents_) != true) conditions_.push_front(condition);
}

/// i = j: one index, of the smaller extent. i = f(j): the value of i.
void NormalForm::equate(const Term& a, const Term& b) {
  // An index around a nested comprehension stays what it is.
  const auto own = [&](const Term& term) {
    const auto* index = as<term::Position>(term);
    return index == nullptr || outer_.contains(index->index) ? nullptr : index;
  };
  const auto *left = own(a), *right = own(b);
  if (left != nullptr && right != nullptr) {
    if (left->index == right->index) return;
    const int keep = std::min(left->index, right->index);
    const int drop = std::max(left->index, right->index);
    extent(keep) = std::min(extent(keep), extent(drop));
    return replace(drop, position(keep));
  }
  const auto determines = [&](const term::Position* index, const Term& value) {
    return index != nullptr && dtype(value) == DType::i64 &&
           !free_indices(value).contains(index->index);
  };
  const bool by_right = determines(left, b);
  if (!by_right && !determines(right, a)) {
    conditions_.push_back(applied("equal", {a, b}));
    return;
  }
  const int index = by_right ? left->index : right->index;
  Term value = by_right ? b : a;
  keep_inside(value, extent(index));
  // A longer index is no position by itself: not all of its values are.
  if (const auto* other = as<term::Position>(value); other && extent(other->index) > extent(index))
    value = applied("add", {value, integer(0)});
  replace(index, value);
}

void NormalForm::require(const Term& condition) {
  std::vector<Term> conjuncts;
  split(resolved(condition), conjuncts);
  for (const Term& written : conjuncts) {
    const Term part = resolved(written);
    const auto* compared = as<term::Applied>(part);
    if (decided(part, extents_) == true) continue;
    // After a grouping the keys stay what they are.
    if (!grouped_ && compared != nullptr && compared->function->name == "equal")
      equate(compared->arguments[0], compared->arguments[1]);
    else
      conditions_.push_back(part);
  }
}

std::vector<int> NormalForm::live() const {
  std::vector<int> indices;
  for (int i = 0; std::cmp_less(i, extents_.size()); ++i)
    if (!replaced_.contains(i) && !bound_.contains(i) && !outer_.contains(i)) indices.push_back(i);
  return indices;
}

/// An element is read only where the conditions before it hold: it may not exist elsewhere.
Term NormalForm::all_of(const Conditions& conditions) const {
  Term all = nullptr;
  for (auto condition = conditions.rbegin(); condition != conditions.rend(); ++condition)
    all = all == nullptr        ? *condition
          : reads_elements(all) ? choice(*condition, all, number(Scalar(false)))
                                : applied("logical_and", {*condition, all});
  return all;
}

int NormalForm::own_index(const Term& key, std::optional<std::int64_t> known_extent, bool one_each,
                          const std::set<int>& taken) {
  if (const auto* plain = as<term::Position>(key))
    if (!taken.contains(plain->index)) return plain->index;
  TESSERA_REQUIRE(TypeError, dtype(key) == DType::i64, "an index must be an integer, not {}",
                  to_string(dtype(key)));
  // Beyond what the key can be there is nothing.
  if (const auto bounds = bounds_of(key, extents_))
    known_extent = std::min(known_extent.value_or(bounds->high + 1), bounds->high + 1);
  TESSERA_REQUIRE(TypeError, known_extent,
                  "cannot determine how many values the group key has; give the shape of the "
                  "result, as in tensor(100)[ ... ]");
  const int own = new_index("n", std::max<std::int64_t>(0, *known_extent));
  const auto inverse = inverse_of(key, extents_, taken);
  TESSERA_REQUIRE(TypeError, !one_each || (inverse && !inverse->rest),
                  "several values may have one index; group them by the index and fold them, as in "
                  "[ (k, +/v) | ..., group by k : ... ]");
  if (!inverse) {
    conditions_.push_back(applied("equal", {key, position(own)}));
    return own;
  }
  std::map<int, Term> of = {{inverse_key, position(own)}};
  if (inverse->rest) of.emplace(inverse_rest, this->index("r", *inverse->rest));
  for (const Term& condition : inverse->conditions)
    conditions_.push_back(substituted(condition, of));
  for (const auto& [index, value] : inverse->values) {
    const Term of_key = substituted(value, of);
    keep_inside(of_key, extent(index));
    replace(index, of_key);
  }
  return own;
}

std::vector<Term> NormalForm::group_by(const std::vector<Term>& keys,
                                       const std::vector<std::optional<std::int64_t>>& extents) {
  TESSERA_REQUIRE(TypeError, !grouped_, "a comprehension can group only once; nest another one");
  std::set<int> own;
  std::vector<Term> result;
  for (std::size_t k = 0; k < keys.size(); ++k) {
    const int index = own_index(resolved(keys[k]), extents[k], false, own);
    own.insert(index);
    result.push_back(position(index));
  }
  grouped_ = true;
  for (int index : live())
    if (!own.contains(index)) members_.push_back(index);
  Conditions of_keys;
  for (const Term& condition : conditions_)
    (reads_only(condition, own) ? of_keys : of_members_).push_back(condition);
  conditions_ = std::move(of_keys);
  return result;
}

Term NormalForm::folded(Monoid monoid, const Term& value) {
  const std::vector<int> over = grouped_ ? members_ : live();
  // Each fold has indices of its own, so that one may stand inside another.
  std::map<int, Term> renamed;
  std::vector<int> own;
  for (int index : over) {
    own.push_back(new_index(names_[static_cast<std::size_t>(index)], extent(index)));
    renamed.emplace(index, position(own.back()));
    bound_.insert(own.back());
  }
  const Term condition = all_of(grouped_ ? of_members_ : conditions_);
  return fold(monoid, own, substituted(resolved(value), renamed),
              condition == nullptr ? nullptr : substituted(condition, renamed));
}

Term NormalForm::nested(Monoid monoid, const std::function<Term()>& value) {
  const std::vector<int> around = live();
  const std::size_t known = extents_.size();
  std::set<int> outer = outer_;
  outer.insert(around.begin(), around.end());
  std::swap(outer_, outer);
  Conditions conditions;
  std::swap(conditions_, conditions);
  const bool was_grouped = std::exchange(grouped_, false);
  const Term made = folded(monoid, value());
  // What it has generated is folded.
  for (std::size_t index = known; index < extents_.size(); ++index)
    bound_.insert(static_cast<int>(index));
  grouped_ = was_grouped;
  std::swap(conditions_, conditions);
  std::swap(outer_, outer);
  return made;
}

std::map<int, Term> NormalForm::open_group() {
  std::map<int, Term> renamed;
  for (int index : members_)
    renamed.emplace(index,
                    position(new_index(names_[static_cast<std::size_t>(index)], extent(index))));
  for (const Term& condition : of_members_) conditions_.push_back(substituted(condition, renamed));
  return renamed;
}

Array NormalForm::array(const std::vector<Term>& keys, const Term& value,
                        const std::optional<std::vector<std::int64_t>>& shape) {
  std::set<int> taken;
  std::vector<int> result;
  for (std::size_t k = 0; k < keys.size(); ++k) {
    const auto wanted = shape ? std::optional((*shape)[k]) : std::nullopt;
    int index = own_index(resolved(keys[k]), wanted, true, taken);
    if (wanted && extent(index) < *wanted) {  // zeros beyond what there is
      const int wider = new_index(names_[static_cast<std::size_t>(index)], *wanted);
      conditions_.push_front(applied("less", {position(wider), integer(extent(index))}));
      replace(index, applied("add", {position(wider), integer(0)}));
      index = wider;
    } else if (wanted) {
      extent(index) = *wanted;
    }
    taken.insert(index);
    result.push_back(index);
  }
  if (!grouped_)
    for (int index : live())
      TESSERA_REQUIRE(TypeError, taken.contains(index) || extent(index) == 1,
                      "index {} does not appear in the head, so an element would have several "
                      "values; add group by and fold them",
                      names_[static_cast<std::size_t>(index)]);
  for (int index : live())
    if (!grouped_ && !taken.contains(index)) replace(index, integer(0));
  Term element = resolved(value);
  // A group that nothing is in does not exist.
  const bool may_be_empty =
      std::any_of(members_.begin(), members_.end(), [&](int index) { return extent(index) == 0; });
  if (grouped_ && (!of_members_.empty() || may_be_empty) && !is_zero_of_nothing(element))
    conditions_.push_back(folded(Monoid::any, number(Scalar(true))));
  if (const Term condition = all_of(conditions_); condition != nullptr) {
    const Scalar zero = Scalar(std::int64_t{0}).cast(dtype(element));
    element = choice(resolved(condition), element, number(zero));
  }
  return defined(form_of(result, element), arguments_);
}

DType NormalForm::dtype(const Term& term) const {
  std::vector<TileType> types;
  for (const Array& argument : arguments_) types.push_back(argument.type);
  return typed(form_of({}, resolved(term)), types).result.dtype;
}

IndexForm NormalForm::form_of(const std::vector<int>& result, const Term& value) const {
  std::vector<int> used = result;
  const auto use = [&](int index) {
    if (std::find(used.begin(), used.end(), index) == used.end()) used.push_back(index);
  };
  const auto collect = [&](const auto& self, const Term& term) -> void {
    if (const auto* read = as<term::Position>(term)) use(read->index);
    if (const auto* folded = as<term::Fold>(term))
      for (int index : folded->indices) use(index);
    for (const Term& part : parts_of(term)) self(self, part);
  };
  collect(collect, value);
  IndexForm form;
  form.rank = static_cast<int>(result.size());
  std::set<std::string> names;
  std::map<int, int> numbers;
  for (int index : used) {
    std::string name = names_[static_cast<std::size_t>(index)];
    for (int n = 2; !names.insert(name).second; ++n)
      name = fmt::format("{}{}", names_[static_cast<std::size_t>(index)], n);
    numbers.emplace(index, static_cast<int>(form.indices.size()));
    form.indices.push_back({std::move(name), extents_[static_cast<std::size_t>(index)]});
  }
  form.value = renumbered(value, numbers);
  return form;
}

}  // namespace tessera::calculus
