#include "key/facts.h"

#include <algorithm>
#include <limits>

namespace tessera {
namespace {

constexpr std::int64_t sample_size = 4096;

/// Extents of a small box within the bounds, about as long in each direction.
Key sample_extents(const Bounds& bounds) {
  Key extents(bounds.size(), 1);
  std::int64_t points = 1;
  for (bool grown = true; grown;) {
    grown = false;
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      const bool fits = static_cast<std::uint64_t>(extents[i]) * 2 <= bounds[i].width() + 1;
      if (!fits || points * 2 > sample_size) continue;
      extents[i] *= 2;
      points *= 2;
      grown = true;
    }
  }
  return extents;
}

Interval intersection(const Interval& a, const Interval& b) {
  return {std::max(a.low, b.low), std::min(a.high, b.high)};
}

}  // namespace

KeyFacts::KeyFacts(const KeySet& all_keys, const KeyDomain& their_domain, KeySolver& their_solver)
    : keys(all_keys),
      domain(their_domain),
      solver(their_solver),
      forms(their_domain.bounds),
      defined(their_domain.defined),
      sample(take_sample()) {
  Ranges by_interval(domain.bounds);
  for (const KeyExpr& component : keys.map.components()) {
    Interval range{std::numeric_limits<std::int64_t>::min(),
                   std::numeric_limits<std::int64_t>::max()};
    const auto interval = by_interval(component);
    if (interval) range = *interval;
    defined = defined && interval;
    components.push_back(forms.form_of(component));
    const auto linear = components.back() ? forms.range(*components.back()) : std::nullopt;
    ranges.push_back(linear ? intersection(range, *linear) : range);
  }
}

Key KeyFacts::least_corner() const {
  Key corner;
  for (const Interval& interval : domain.bounds) corner.push_back(interval.low);
  return corner;
}

KeyImage KeyFacts::take_sample() const {
  std::vector<KeyExpr> from_corner;
  const Key corner = least_corner();
  for (std::size_t i = 0; i < corner.size(); ++i)
    from_corner.push_back(key(static_cast<int>(i)) + corner[i]);
  return image_of({.extents = sample_extents(domain.bounds),
                   .where = keys.where.substitute(from_corner),
                   .map = keys.map.compose(KeyFunction(from_corner))});
}

Key KeyFacts::sample_point(std::int64_t row) const { return shifted(sample.point_at(row)); }

Key KeyFacts::shifted(Key point) const {
  const Key corner = least_corner();
  for (std::size_t i = 0; i < point.size(); ++i) point[i] += corner[i];
  return point;
}

std::optional<Key> KeyFacts::key_at(const Key& point) const {
  if (!keys.where.evaluate(point)) return std::nullopt;
  return keys.map.evaluate(point);
}

KeyFacts::Found KeyFacts::find_point() const {
  if (sample.count > 0) return {Answer::yes, sample_point(0)};
  KeyQuery query(solver);
  const KeyQuery::Point point = domain_point(query);
  const Answer answer = query.satisfiable();
  if (answer != Answer::yes) return {answer};
  const Key found = query.solution(point);
  return key_at(found) ? Found{Answer::yes, found} : Found{Answer::unknown};
}

KeyFacts::Found KeyFacts::find_preimage(const Key& key) const {
  if (is_identity(keys.map, domain.bounds.size()))
    return {keys.where.evaluate(key) ? Answer::yes : Answer::no, key};
  KeyQuery query(solver);
  const KeyQuery::Point point = domain_point(query);
  query.require(query.equal(key_of(query, point), query.constant_point(key)));
  const Answer answer = query.satisfiable();
  if (answer != Answer::yes) return {answer};
  const Key found = query.solution(point);
  return key_at(found) == key ? Found{Answer::yes, found} : Found{Answer::unknown};
}

KeyQuery::Point KeyFacts::domain_point(KeyQuery& query) const {
  KeyQuery::Point point = query.unknown_point(domain.bounds);
  for (const KeyPredicate& condition : domain.conditions)
    query.require(query.holds(condition, point));
  return point;
}

KeyQuery::Point KeyFacts::key_of(KeyQuery& query, const KeyQuery::Point& point) const {
  std::vector<KeyQuery::Term> key;
  for (const KeyExpr& component : keys.map.components())
    key.push_back(query.value(component, point));
  return query.point(std::move(key));
}

}  // namespace tessera
