#include "key/continuity.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "key/closedness.h"
#include "key/inverse.h"
#include "key/occupancy.h"

namespace tessera {
namespace {

using Form = LinearForms::Form;

constexpr std::int64_t uncountable = std::numeric_limits<std::int64_t>::max();

class Continuity {
 public:
  Continuity(KeyFacts& facts, const Key& frontier, const Key& some_point)
      : facts_(facts), frontier_(frontier), some_point_(some_point) {}

  Verdict decide(bool injective, bool non_negative) {
    const std::int64_t keys = volume(frontier_);
    const std::int64_t points = facts_.domain.points_within_bounds();
    if (frontier_.empty() || keys == 0) return certain();
    // As many different keys as there are places for keys fill them all.
    const bool exact = facts_.domain.conditions.empty() && injective && non_negative;
    if (exact && keys == points && keys != uncountable) return certain();
    if (const auto least = least_of_a_box()) {
      const bool reaches_zero =
          std::all_of(least->begin(), least->end(), [](std::int64_t value) { return value <= 0; });
      return reaches_zero ? certain() : missing_key(Key(frontier_.size(), 0), frontier_);
    }

    Verdict verdict = search();
    if (verdict.answer == Answer::unknown && keys > points)
      verdict = {
          Answer::no,
          {},
          fmt::format(
              "there are {}{} keys below the frontier {}, but at most {} points to fill them", keys,
              keys == uncountable ? " or more" : "", to_string(frontier_), points)};
    return verdict;
  }

 private:
  /// Components that each take all values of an interval, independently, make up a box of keys;
  /// this is its least one.
  std::optional<Key> least_of_a_box() const {
    if (!facts_.domain.conditions.empty()) return std::nullopt;
    Key least;
    std::vector<Form> components;
    for (const auto& component : facts_.components) {
      const auto values = component ? contiguous_values(facts_.forms, *component) : std::nullopt;
      if (!values) return std::nullopt;
      least.push_back(values->low);
      components.push_back(*component);
    }
    return are_independent(facts_.forms, components) ? std::optional(least) : std::nullopt;
  }

  Verdict search() {
    Key example = some_point_;
    for (const Key& suspect : {first_beyond_sample(), last()})
      if (find_preimage(suspect).answer == Answer::no) return missing_key(suspect, frontier_);
    // Looks for a key for which the guessed inverse is wrong. If there is none but those known to
    // be there, no key is missing; another one is missing if no point at all is mapped to it. If
    // one is, that point is an example for the next guess.
    std::vector<Key> there;
    constexpr int guesses = 32;
    for (int i = 0; i < guesses; ++i) {
      const KeyFacts::Found suspect = find_wrong_guess(example, there);
      if (suspect.answer == Answer::no) return certain();
      if (suspect.answer == Answer::unknown) break;
      const KeyFacts::Found preimage = find_preimage(suspect.point);
      if (preimage.answer == Answer::no) return missing_key(suspect.point, frontier_);
      if (preimage.answer == Answer::unknown) break;
      there.push_back(suspect.point);
      example = preimage.point;
    }
    return undecided(fmt::format(
        "whether every key below the frontier {} exists could not be decided in the time allowed",
        to_string(frontier_)));
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

  /// Whether a key is out of the question because its components are: too small, too large, or not
  /// a multiple of what all coefficients are multiples of.
  bool is_impossible(const Key& key) const {
    for (std::size_t i = 0; i < key.size(); ++i) {
      if (key[i] < facts_.ranges[i].low || key[i] > facts_.ranges[i].high) return true;
      if (!facts_.components[i]) continue;
      std::int64_t divisor = 0;
      for (const auto& term : facts_.components[i]->terms)
        divisor = std::gcd(divisor, term.coefficient);
      const auto rest = apply(Arithmetic::subtract, key[i], facts_.components[i]->constant);
      if (rest && divisor > 1 && *rest % divisor != 0) return true;
    }
    return false;
  }

  KeyFacts::Found find_preimage(const Key& key) const {
    return is_impossible(key) ? KeyFacts::Found{Answer::no} : facts_.find_preimage(key);
  }

  /// A key other than those known to be there that the guessed inverse is wrong for.
  KeyFacts::Found find_wrong_guess(const Key& example, const std::vector<Key>& there) {
    KeyQuery query(facts_.solver);
    Bounds below;
    for (const std::int64_t extent : frontier_) below.push_back({0, extent - 1});
    const KeyQuery::Point key = query.unknown_point(below);
    const KeyQuery::Point guess = guess_inverse(query, key, example);
    query.require(query.negation(is_preimage(query, guess, key)));
    for (const Key& other : there)
      query.require(query.negation(query.equal(key, query.constant_point(other))));
    const Answer answer = query.satisfiable();
    return {answer, answer == Answer::yes ? query.solution(key) : Key()};
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

  /// Components that are not linear have no part in the guess.
  KeyQuery::Point guess_inverse(KeyQuery& query, const KeyQuery::Point& key, const Key& example) {
    InverseGuess guess(query, facts_.forms, example);
    for (std::size_t i = 0; i < key.components.size(); ++i)
      if (facts_.components[i]) guess.equate(*facts_.components[i], key.components[i]);
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
      return LinearForms::combine(a, -1, b);
    };
    const auto above = [&](const std::optional<Form>& form, std::int64_t margin) {
      const auto shifted = form ? LinearForms::combine(*form, -1, {{}, margin}) : std::nullopt;
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
  const Key& some_point_;
};

}  // namespace

Verdict decide_continuity(KeyFacts& facts, const Key& frontier, const Key& some_point,
                          bool injective, bool non_negative) {
  return Continuity(facts, frontier, some_point).decide(injective, non_negative);
}

}  // namespace tessera
