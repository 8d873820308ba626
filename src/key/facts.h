#pragma once

#include <optional>
#include <vector>

#include "key/domain.h"
#include "key/image.h"
#include "key/linear.h"
#include "key/solver.h"

namespace tessera {

/// What the reasoning about a set of keys, not obviously empty, starts from.
class KeyFacts {
 public:
  KeyFacts(const KeySet& keys, const KeyDomain& domain, KeySolver& solver);

  const KeySet& keys;
  const KeyDomain& domain;
  KeySolver& solver;
  LinearForms forms;
  std::vector<std::optional<LinearForms::Form>> components;  // of the map, where they are linear
  Bounds ranges;                                             // of the map's components
  bool defined;  // whether filter and map are seen to have values wherever they are asked for

  /// The keys of a few points around the least corner of the domain. They are no proof that
  /// something holds, but a counterexample among them is one, and a small one to show.
  KeyImage sample;
  Key sample_point(std::int64_t row) const;
  /// The point of the box that a point of the sample stands for.
  Key shifted(Key point) const;

  /// The key of a point, if it passes the filter.
  std::optional<Key> key_at(const Key& point) const;

  /// What a search has found: yes, a point; or no, there is none.
  struct Found {
    Answer answer;
    Key point = {};
  };
  /// Some point of the domain.
  Found find_point() const;
  /// Some point of the domain that the map takes to the key.
  Found find_preimage(const Key& key) const;

  /// An unknown point of the domain.
  KeyQuery::Point domain_point(KeyQuery& query) const;
  /// The key that the map gives for a point.
  KeyQuery::Point key_of(KeyQuery& query, const KeyQuery::Point& point) const;

 private:
  Key least_corner() const;
  KeyImage take_sample() const;
};

}  // namespace tessera
