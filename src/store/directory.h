#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "store/segment.h"
#include "tessera/relation.h"

namespace tessera::store {

/// A tuple that is stored: its key, the types of its tiles, and where they are.
struct Entry {
  Key key;
  std::vector<TileType> types;
  Address address;
};

/// What is stored of a relation, or of a part of it. It is itself a record of numbers in a segment.
struct Directory {
  std::vector<Entry> entries;
};
std::int64_t bytes_in(const Directory& directory);  // of all tiles, on disk
std::vector<std::int64_t> to_numbers(const Directory& directory);
/// IoError if the numbers are not those of a directory; `what` says whose they are.
Directory directory_of(const std::vector<std::int64_t>& numbers, const std::string& what);

/// How the extents of tiles follow from their keys, where each key component counts the tiles along
/// one dimension: all tiles have the bound, but those at the upper edges.
struct Edges {
  Shape last;  // the extents of the tiles at the greatest key components
  friend bool operator==(const Edges&, const Edges&) = default;
};
/// The edges of a relation that is a tensor cut into tiles: one column, a key component a
/// dimension.
std::optional<Edges> edges_of(const TupleSet<TileType>& tuples);
/// Whether the tile at a key has the extents that it has in such a tensor.
bool follows(const RelationType& type, const Edges& edges, const Key& key, const Shape& shape);
/// The shape of that tensor.
Shape tensor_shape(const RelationType& type, const Edges& edges);
/// The types of the tiles that a sparse tensor leaves out.
TypesAt absent_types_of(const RelationType& type, const Edges& edges);
/// The same where nothing but the bounds is known.
TypesAt absent_types_of(const RelationType& type);

}  // namespace tessera::store
