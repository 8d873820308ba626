#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tessera/key.h"
#include "tessera/tile.h"

namespace tessera {

/// What the absence of a key below the frontier means.
enum class Presence {
  continuous,  // nothing is absent
  sparse,      // the tile at that key is all zeros
  partial,     // there is no such tuple: a filter took it out
};
std::string_view to_string(Presence presence);

/// A payload column. The shape is the bound: tiles at the edge of a tensor may be smaller.
struct Column {
  std::string name;
  TileType type;
  friend bool operator==(const Column&, const Column&) = default;
};

struct RelationType {
  std::vector<Column> columns;
  Key frontier;  // the least key that is above every key, by component
  Presence presence = Presence::continuous;
  int arity() const { return static_cast<int>(frontier.size()); }
  friend bool operator==(const RelationType&, const RelationType&) = default;
};
std::string to_string(const RelationType& type);  // "<2, 2> -> f64[2x2]"

/// A frontier component that cannot be known before running.
inline constexpr std::int64_t unknown_extent = -1;

/// How many keys lie below a frontier: 1 for arity 0. TypeError if it does not fit 63 bits.
std::int64_t count_below(const Key& frontier);

/// A key and a payload a column: tiles, or where only the shape of a result is asked, their types.
template <class Payload>
struct BasicTuple {
  Key key;
  std::vector<Payload> tiles;
};
using Tuple = BasicTuple<Tile>;

struct Statistics {
  std::int64_t tuples = 0;
  std::int64_t nonzeros = 0;  // over all columns
  double min = 0;             // over all elements, zeros of absent tiles included
  double max = 0;
  std::vector<std::int64_t> distinct = {};  // different values of each key component
  friend bool operator==(const Statistics&, const Statistics&) = default;
};

/// The types of the tiles at a key, one a column.
using TypesAt = std::function<std::vector<TileType>(const Key&)>;

/// The tuples of a relation in order of their keys, with payloads of either kind: tiles, or their
/// types where the tiles are elsewhere or not made yet.
template <class Payload>
struct TupleSet {
  RelationType type;
  std::vector<BasicTuple<Payload>> tuples;
  TypesAt absent_types = {};  // of a sparse relation
};

/// An immutable tensor relation: tuples of a unique key and tiles, in order of their keys.
class Relation {
 public:
  /// Checks the integrity constraints: keys unique, non-negative and of one arity, one dtype and
  /// rank a column, and no holes unless `presence` says what they mean. The frontier is that of
  /// the keys, or the larger one given, as a sparse relation may need.
  static Relation of(std::vector<Tuple> tuples, Presence presence = Presence::continuous,
                     std::optional<Key> frontier = std::nullopt);
  static Relation empty(const RelationType& type);

  /// A tensor cut into tiles: key component i counts the tiles along dimension i. The tiles are
  /// views of the tensor. With `Presence::sparse`, tiles without nonzeros are left out.
  static Relation from_tensor(const Tile& tensor, const Shape& tile_shape,
                              Presence presence = Presence::continuous);
  /// The tensor whose tiles these are: the inverse of from_tensor, of one column.
  Tile to_tensor(int column = 0) const;

  const RelationType& type() const { return data_->type; }
  int arity() const { return type().arity(); }
  const Key& frontier() const { return type().frontier; }
  const std::vector<Tuple>& tuples() const { return data_->tuples; }
  std::int64_t size() const { return static_cast<std::int64_t>(tuples().size()); }
  const Tuple* find(const Key& key) const;  // null if the key is absent
  /// The tile at a key; a tile of zeros if the relation is sparse and lacks it.
  Tile at(const Key& key, int column = 0) const;
  Statistics statistics() const;
  Relation rename(const std::vector<std::string>& columns) const;

  /// What the tiles would be at a key that a sparse relation lacks: their shapes are not lost with
  /// them, though tiles at the edge of a tensor are smaller than the bound.
  const TypesAt& absent_types() const { return data_->absent_types; }
  /// A relation whose parts are known to fit together; nothing is checked.
  static Relation assemble(RelationType type, std::vector<Tuple> tuples, TypesAt absent_types);

 private:
  struct Data {
    RelationType type;
    std::vector<Tuple> tuples;
    TypesAt absent_types;  // of a sparse relation
  };
  explicit Relation(std::shared_ptr<const Data> data) : data_(std::move(data)) {}
  std::shared_ptr<const Data> data_;
};

std::string to_string(const Relation& relation);  // the tuples, long relations cut to their ends
std::ostream& operator<<(std::ostream& out, const Relation& relation);

}  // namespace tessera
