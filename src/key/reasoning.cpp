#include "key/reasoning.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "key/closedness.h"
#include "key/continuity.h"
#include "key/definedness.h"
#include "key/facts.h"
#include "key/occupancy.h"

namespace tessera {
namespace {

const std::string by_solver = "solver";
const std::string no_time = "it could not be decided in the time allowed";

constexpr std::int64_t greatest_integer = std::numeric_limits<std::int64_t>::max();

bool is_negative(const Key& key) {
  return std::any_of(key.begin(), key.end(), [](std::int64_t value) { return value < 0; });
}

Closedness all_undecided(const std::string& reason) {
  return {.non_negative = undecided(reason),
          .unique = undecided(reason),
          .continuous = undecided(reason),
          .method = by_solver};
}

/// What is wrong with a set whose filter or map has no value at a point, if so it is.
std::optional<Closedness> failure_at(const KeySet& keys, const Key& point) {
  try {
    if (keys.where.evaluate(point)) keys.map.evaluate(point);
  } catch (const ValueError& error) {
    return without_value(point, error.what(), by_solver);
  }
  return std::nullopt;
}

/// What is wrong with a set whose filter or map may be without value somewhere; nothing, if they
/// turn out to have one everywhere.
std::optional<Closedness> find_failure(const KeySet& keys, KeySolver& solver) {
  KeyQuery query(solver);
  Bounds box;
  for (const std::int64_t extent : keys.extents) box.push_back({0, extent - 1});
  const KeyQuery::Point point = query.unknown_point(box);
  query.require(has_no_value(query, keys, point));
  const Answer answer = query.satisfiable();
  if (answer == Answer::no) return std::nullopt;
  const auto failure =
      answer == Answer::yes ? failure_at(keys, query.solution(point)) : std::nullopt;
  return failure ? *failure : all_undecided("an expression may overflow or divide by zero");
}

Verdict decide_non_negativity(const KeyFacts& facts) {
  if (std::all_of(facts.ranges.begin(), facts.ranges.end(),
                  [](const Interval& range) { return range.low >= 0; }))
    return certain();
  for (std::int64_t row = 0; row < facts.sample.count; ++row)
    if (is_negative(facts.sample.key_at(row)))
      return negative_key(facts.sample_point(row), facts.sample.key_at(row));
  KeyQuery query(facts.solver);
  const KeyQuery::Point point = facts.domain_point(query);
  std::vector<KeyQuery::Condition> negative;
  for (const KeyQuery::Term component : facts.key_of(query, point).components)
    negative.push_back(query.compare(Comparison::less, component, query.constant(0)));
  query.require(query.any(negative));
  switch (query.satisfiable()) {
    case Answer::no: return certain();
    case Answer::unknown: return undecided(no_time);
    case Answer::yes: break;
  }
  const Key witness = query.solution(point);
  const auto key = facts.key_at(witness);
  return key && is_negative(*key) ? negative_key(witness, *key) : undecided(no_time);
}

/// Whether the values of the map, together with the equations of the filter, leave no choice.
bool is_seen_to_be_injective(KeyFacts& facts) {
  std::vector<LinearForms::Form> values;
  for (const auto& component : facts.components)
    if (component) values.push_back(*component);
  for (const KeyPredicate& condition : facts.domain.conditions) {
    const auto* relation = std::get_if<KeyPredicate::Node::Relation>(&condition.node().form);
    if (relation == nullptr || relation->op != Comparison::equal) continue;
    const auto left = facts.forms.form_of(relation->left);
    const auto right = facts.forms.form_of(relation->right);
    const auto zero = left && right ? LinearForms::combine(*left, -1, *right) : std::nullopt;
    if (zero) values.push_back(*zero);
  }
  return determine_the_point(facts.forms, values);
}

Verdict decide_uniqueness(KeyFacts& facts) {
  const KeyOccupancy occupancy(facts.sample);
  if (occupancy.repeating_row() >= 0)
    return repeated_key(facts.sample_point(occupancy.repeated_row()),
                        facts.sample_point(occupancy.repeating_row()),
                        facts.sample.key_at(occupancy.repeating_row()));
  if (is_seen_to_be_injective(facts)) return certain();
  KeyQuery query(facts.solver);
  const KeyQuery::Point a = facts.domain_point(query), b = facts.domain_point(query);
  query.require(query.equal(facts.key_of(query, a), facts.key_of(query, b)));
  query.require(query.negation(query.equal(a, b)));
  switch (query.satisfiable()) {
    case Answer::no: return certain();
    case Answer::unknown: return undecided(no_time);
    case Answer::yes: break;
  }
  const Key first = std::min(query.solution(a), query.solution(b));
  const Key second = std::max(query.solution(a), query.solution(b));
  const auto key = facts.key_at(first);
  const bool repeated = key && first != second && facts.key_at(second) == key;
  return repeated ? repeated_key(first, second, *key) : undecided(no_time);
}

/// Chooses for each component the end of its bounds that pushes the form up.
void push_up(const LinearForms& forms, const LinearForms::Form& form, bool up, Key& corner) {
  for (const auto& [index, coefficient] : form.terms) {
    const LinearForms::Atom& atom = forms.atoms()[index];
    const bool atom_up = up == (coefficient > 0);
    if (atom.kind == LinearForms::AtomKind::component) {
      corner[atom.component] = atom_up ? atom.range.high : atom.range.low;
    } else {
      push_up(forms, atom.dividend, atom_up, corner);
    }
  }
}

/// The greatest value of a component of the keys: bounded from above by the range of its
/// expression, from below by the values at points, and searched for between the two.
std::optional<std::int64_t> greatest_value(const KeyFacts& facts, std::size_t index,
                                           const Key& some_point) {
  std::int64_t low = facts.keys.map.evaluate(some_point)[index];
  std::int64_t high = facts.ranges[index].high;
  if (facts.components[index]) {
    const auto values = contiguous_values(facts.forms, *facts.components[index]);
    if (values && facts.domain.conditions.empty()) return values->high;
    Key corner = some_point;
    push_up(facts.forms, *facts.components[index], true, corner);
    if (const auto key = facts.key_at(corner)) low = std::max(low, (*key)[index]);
  }
  // The range is mostly right or almost so: the search goes down from it by growing steps, and no
  // further than the middle.
  std::int64_t tried = high;
  for (std::int64_t step = 1; low < high; step = std::min(step, greatest_integer / 2) * 2) {
    KeyQuery query(facts.solver);
    const KeyQuery::Point point = facts.domain_point(query);
    const auto value = query.value(facts.keys.map.components()[index], point);
    query.require(query.compare(Comparison::greater_equal, value, query.constant(tried)));
    const Answer reached = query.satisfiable();
    if (reached == Answer::unknown) return std::nullopt;
    if (reached == Answer::no) {
      high = tried - 1;
    } else {
      const auto key = facts.key_at(query.solution(point));
      if (!key || (*key)[index] < tried) return std::nullopt;
      low = (*key)[index];
    }
    const auto half = static_cast<std::int64_t>(Interval{low, high}.width() / 2);
    tried = high - std::min(step - 1, half);
  }
  return low;
}

void find_frontier(const KeyFacts& facts, const Key& some_point, Closedness& result) {
  for (std::size_t i = 0; i < facts.ranges.size(); ++i) {
    const auto greatest = greatest_value(facts, i, some_point);
    if (!greatest || *greatest == greatest_integer) {
      result.frontier = {};
      return;
    }
    result.frontier.push_back(std::max<std::int64_t>(*greatest + 1, 0));
  }
  result.frontier_known = true;
}

}  // namespace

Closedness reason_about_closedness(const KeySet& keys, int milliseconds) {
  // Putting the question to Z3 takes time too, which no limit interrupts.
  constexpr double most_parts = 500;
  double parts = keys.where.node().parts;
  for (const KeyExpr& component : keys.map.components()) parts += component.node().parts;
  if (parts > most_parts) return all_undecided("the expressions are too long to reason about");

  KeySolver solver{std::chrono::milliseconds(milliseconds)};
  const KeyDomain domain = domain_of(keys.extents, keys.where);
  if (domain.empty) {
    const auto failure = domain.defined ? std::nullopt : find_failure(keys, solver);
    return failure ? *failure : nothing_there(keys.map.output_arity(), by_solver);
  }

  KeyFacts facts(keys, domain, solver);
  if (facts.sample.failure)
    if (const auto failure = failure_at(keys, facts.shifted(facts.sample.failure->point)))
      return *failure;
  if (!facts.defined)
    if (const auto failure = find_failure(keys, solver)) return *failure;
  const KeyFacts::Found some = facts.find_point();
  if (some.answer == Answer::no) return nothing_there(keys.map.output_arity(), by_solver);
  Closedness result;
  result.method = by_solver;
  result.non_negative = decide_non_negativity(facts);
  result.unique = decide_uniqueness(facts);
  result.continuous = undecided("the frontier could not be found in the time allowed");
  if (some.answer == Answer::yes) find_frontier(facts, some.point, result);
  const bool injective = result.unique.answer == Answer::yes;
  const bool non_negative = result.non_negative.answer == Answer::yes;
  if (result.frontier_known)
    result.continuous =
        decide_continuity(facts, result.frontier, some.point, injective, non_negative);
  if (domain.conditions.empty() && injective) {
    result.cardinality = domain.points_within_bounds();
  } else if (result.continuous.answer == Answer::yes && non_negative) {
    result.cardinality = volume(result.frontier);
  }
  if (result.cardinality == greatest_integer) result.cardinality = -1;
  return result;
}

}  // namespace tessera
