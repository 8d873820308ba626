#include "tra/key_continuity.h"

#include <fmt/format.h>

#include <limits>

#include "tra/closedness.h"
#include "tra/key_inverse.h"
#include "tra/key_occupancy.h"

namespace tessera {
namespace {

using Form = LinearForms::Form;

constexpr std::int64_t uncountable = std::numeric_limits<std::int64_t>::max();

class Continuity {
 public:
  Continuity(KeyFacts& facts, const Key& frontier) : facts_(facts), frontier_(frontier) {}

  Verdict decide(bool injective, bool non_negative) {
    const std::int64_t keys = volume(frontier_);
    const std::int64_t points = facts_.domain.points_within_bounds();
    if (frontier_.empty() || keys == 0) return certain();
    // As many different keys as there are places for keys fill them all.
    const bool exact = facts_.domain.conditions.empty() && injective && non_negative;
    if (exact && keys == points && keys != uncountable) return certain();

    Verdict verdict = search();
    if (verdict.answer == Answer::unknown && keys > points)
      verdict = {
          Answer::no,
          {},
          fmt::format("there are {}{} keys below the frontier {}, but no more than {} points "
                      "to fill them",
                      keys, keys == uncountable ? " or more" : "", to_string(frontier_), points)};
    return verdict;
  }

 private:
  Verdict search() {
    for (const Key& suspect : {first_beyond_sample(), last()})
      if (is_missing(suspect) == Answer::yes) return missing_key(suspect, frontier_);
    return try_inverse();
  }

  Key last() const {
    Key key = frontier_;
    for (std::int64_t& component : key) --component;
    return key;
  }

  /// The first key that the sample does not have.
  Key first_beyond_sample() const {
    const KeyOccupancy occupancy(facts_.sample);
    Key key(frontier_.size(), 0);
    while (occupancy.contains(key)) {
      std::size_t i = key.size() - 1;
      while (i > 0 && key[i] == frontier_[i] - 1) key[i--] = 0;
      if (key[i] == frontier_[i] - 1) return key;
      ++key[i];
    }
    return key;
  }

  Answer is_missing(const Key& key) const {
    KeyQuery query(facts_.solver);
    const auto point = facts_.domain_point(query);
    query.require(query.equal(facts_.key_of(query, point), query.constant_point(key)));
    const Answer there = query.satisfiable();
    if (there == Answer::unknown) return there;
    return there == Answer::yes ? Answer::no : Answer::yes;
  }

  /// Looks for a key for which the guessed inverse is wrong. If there is none, no key is missing;
  /// one that is found is missing if no point at all is mapped to it.
  Verdict try_inverse() {
    KeyQuery query(facts_.solver);
    Bounds below;
    for (const std::int64_t extent : frontier_) below.push_back({0, extent - 1});
    const KeyQuery::Point key = query.unknown_point(below);
    const auto guess = guess_inverse(query, key);
    if (!guess) return undecided("the map is not linear");
    query.require(query.negation(is_preimage(query, *guess, key)));
    constexpr int suspects = 4;
    for (int i = 0; i < suspects; ++i) {
      const Answer wrong = query.satisfiable();
      if (wrong == Answer::no && i == 0) return certain();
      if (wrong != Answer::yes) break;
      const Key suspect = query.solution(key);
      if (is_missing(suspect) == Answer::yes) return missing_key(suspect, frontier_);
      query.require(query.negation(query.equal(key, query.constant_point(suspect))));
    }
    return undecided(fmt::format(
        "that every key below the frontier {} is there could neither be shown nor refuted in the "
        "time given",
        to_string(frontier_)));
  }

  KeyQuery::Condition is_preimage(KeyQuery& query, const KeyQuery::Point& point,
                                  const KeyQuery::Point& key) const {
    std::vector<KeyQuery::Condition> conditions = {query.equal(facts_.key_of(query, point), key)};
    for (std::size_t i = 0; i < point.components.size(); ++i) {
      const auto& [low, high] = facts_.domain.bounds[i];
      const auto component = point.components[i];
      conditions.push_back(
          query.compare(Comparison::greater_equal, component, query.constant(low)));
      conditions.push_back(query.compare(Comparison::less_equal, component, query.constant(high)));
    }
    for (const KeyPredicate& condition : facts_.domain.conditions)
      conditions.push_back(query.holds(condition, point));
    return query.all(conditions);
  }

  std::optional<KeyQuery::Point> guess_inverse(KeyQuery& query, const KeyQuery::Point& key) {
    InverseGuess guess(query, facts_.forms);
    for (std::size_t i = 0; i < key.components.size(); ++i) {
      if (!facts_.components[i]) return std::nullopt;
      guess.equate(*facts_.components[i], key.components[i]);
    }
    for (const KeyPredicate& condition : facts_.domain.conditions) add_condition(guess, condition);
    return guess.point();
  }

  void add_condition(InverseGuess& guess, const KeyPredicate& condition) {
    const auto* relation = std::get_if<KeyPredicate::Node::Relation>(&condition.node().form);
    if (relation == nullptr) return;
    const auto left = facts_.forms.form_of(relation->left);
    const auto right = facts_.forms.form_of(relation->right);
    if (!left || !right) return;
    const auto difference = [&](const Form& a, const Form& b) {
      return facts_.forms.combine(a, -1, b);
    };
    const auto above = [&](const std::optional<Form>& form, std::int64_t margin) {
      const auto shifted = form ? facts_.forms.combine(*form, -1, {{}, margin}) : std::nullopt;
      if (shifted) guess.require_not_negative(*shifted);
    };
    switch (relation->op) {
      case Comparison::equal:
        if (const auto zero = difference(*left, *right)) guess.require_zero(*zero);
        break;
      case Comparison::not_equal: break;
      case Comparison::less: above(difference(*right, *left), 1); break;
      case Comparison::less_equal: above(difference(*right, *left), 0); break;
      case Comparison::greater: above(difference(*left, *right), 1); break;
      case Comparison::greater_equal: above(difference(*left, *right), 0); break;
    }
  }

  KeyFacts& facts_;
  const Key& frontier_;
};

}  // namespace

Verdict decide_continuity(KeyFacts& facts, const Key& frontier, bool injective, bool non_negative) {
  return Continuity(facts, frontier).decide(injective, non_negative);
}

}  // namespace tessera
