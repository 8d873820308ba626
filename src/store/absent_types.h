#pragma once

#include <optional>
#include <vector>

#include "store/directory.h"

namespace tessera::store {

/// A number that follows from some components of a key.
struct KeyRule {
  /// A component, of whose values all but the last `distinct - 1` are alike.
  struct Part {
    int component = 0;
    std::int64_t distinct = 1;
    friend bool operator==(const Part&, const Part&) = default;
  };
  struct Run {
    std::int64_t length = 0;
    std::int64_t value = 0;
    friend bool operator==(const Run&, const Run&) = default;
  };
  std::vector<Part> parts = {};
  std::vector<Run> runs = {};  // the numbers at all combinations of the parts, in order
  friend bool operator==(const KeyRule&, const KeyRule&) = default;
};

/// The types of the tiles that a sparse relation lacks, where they do not follow from its bounds or
/// edges: of each column a rule for every extent, and one for the number of sparse dimensions.
struct AbsentTypes {
  std::vector<std::vector<KeyRule>> columns = {};
  friend bool operator==(const AbsentTypes&, const AbsentTypes&) = default;
};

/// What must be known of a relation beside its type and its tuples.
struct Extents {
  std::optional<Edges> edges = {};  // if it is a tensor cut into tiles
  std::optional<AbsentTypes> absent = {};
};
/// Of every key that is absent, up to some two million numbers; where there are more, of many, and
/// PlanError if what they say is too irregular to be sure of the others.
Extents extents_of(const TupleSet<TileType>& tuples);

TypesAt absent_types_of(const RelationType& type, const AbsentTypes& absent);
/// Whether there is a rule for all that it takes to know the absent tiles of a relation of this
/// type, and each tells a number wherever it is asked.
bool are_rules_of(const RelationType& type, const AbsentTypes& absent);

}  // namespace tessera::store
