#pragma once

#include <optional>
#include <vector>

#include "tra/key_domain.h"
#include "tra/key_image.h"
#include "tra/key_linear.h"
#include "tra/key_solver.h"

namespace tessera {

/// What the reasoning about a set of keys starts from. The filter and the map are known to have
/// values wherever they are asked for.
class KeyFacts {
 public:
  KeyFacts(const KeySet& keys, const KeyDomain& domain, KeySolver& solver);

  const KeySet& keys;
  const KeyDomain& domain;
  KeySolver& solver;
  LinearForms forms;
  std::vector<std::optional<LinearForms::Form>> components;  // of the map, where they are linear
  Bounds ranges;                                             // of the map's components

  /// The keys of a few points around the least corner of the domain. They are no proof that
  /// something holds, but a counterexample among them is one, and a small one to show.
  KeyImage sample;
  Key sample_point(std::int64_t row) const;

  /// The key of a point, if it passes the filter.
  std::optional<Key> key_at(const Key& point) const;

  /// Some point of the domain; what has been learnt otherwise is in `answer`: no, there is none.
  struct Found {
    Answer answer;
    Key point = {};
  };
  Found find_point() const;

  /// An unknown point of the domain.
  KeyQuery::Point domain_point(KeyQuery& query) const;
  /// The key that the map gives for a point.
  KeyQuery::Point key_of(KeyQuery& query, const KeyQuery::Point& point) const;

 private:
  Key least_corner() const;
  KeyImage take_sample() const;
};

}  // namespace tessera
