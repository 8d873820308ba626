#include <algorithm>
#include <ostream>

#include "base/check.h"
#include "base/stop.h"
#include "tra/absent_shapes.h"
#include "tra/tuple_set.h"

namespace tessera {

std::string_view to_string(Presence presence) {
  switch (presence) {
    case Presence::continuous: return "continuous";
    case Presence::sparse: return "sparse";
    case Presence::partial: return "partial";
  }
  TESSERA_INVARIANT(false, "presence {}", static_cast<int>(presence));
}

std::int64_t count_below(const Key& frontier) {
  std::int64_t count = 1;
  bool overflow = false;
  for (std::int64_t extent : frontier) {
    if (extent <= 0) return 0;
    overflow = overflow || __builtin_mul_overflow(count, extent, &count);
  }
  TESSERA_REQUIRE(TypeError, !overflow, "{} has more than 2^63 keys", to_string(frontier));
  return count;
}

std::string to_string(const RelationType& type) {
  std::vector<std::string> extents;
  for (std::int64_t extent : type.frontier)
    extents.push_back(extent == unknown_extent ? "?" : std::to_string(extent));
  std::vector<std::string> columns;
  for (const Column& column : type.columns)
    columns.push_back(column.name.empty() ? to_string(column.type)
                                          : column.name + " " + to_string(column.type));
  std::string text = fmt::format("<{}> -> {}", fmt::join(extents, ", "), fmt::join(columns, ", "));
  if (type.presence != Presence::continuous) text += fmt::format(" {}", to_string(type.presence));
  return text;
}

namespace {

constexpr const char* assembling = "tuples were put together";

void check_keys(const std::vector<Tuple>& tuples) {
  const std::size_t arity = tuples.front().key.size();
  for (std::size_t i = 0; i < tuples.size(); ++i) {
    refuse_if_stopped(assembling);
    const Key& key = tuples[i].key;
    TESSERA_REQUIRE(TypeError, key.size() == arity,
                    "keys {} and {} have different numbers of components: {} and {}",
                    to_string(tuples.front().key), to_string(key), arity, key.size());
    for (std::int64_t component : key)
      TESSERA_REQUIRE(PlanError, component >= 0 && component < max_key_component,
                      "key {} is not in the range 0 to 2^62", to_string(key));
    TESSERA_REQUIRE(PlanError, i == 0 || tuples[i - 1].key != key,
                    "duplicate key {}; keys must be unique", to_string(key));
  }
}

}  // namespace

template <class Payload>
std::vector<Column> columns_of(const std::vector<BasicTuple<Payload>>& tuples) {
  std::vector<Column> columns;
  for (const Payload& tile : tuples.front().tiles) columns.push_back({"", type_of(tile)});
  for (const auto& tuple : tuples) {
    refuse_if_stopped(assembling);
    TESSERA_REQUIRE(TypeError, tuple.tiles.size() == columns.size(),
                    "the tuple at key {} has {} columns, the one at {} has {}",
                    to_string(tuples.front().key), columns.size(), to_string(tuple.key),
                    tuple.tiles.size());
    for (std::size_t c = 0; c < columns.size(); ++c) {
      TileType& bound = columns[c].type;
      const TileType type = type_of(tuple.tiles[c]);
      TESSERA_REQUIRE(TypeError,
                      type.dtype == bound.dtype && type.shape.rank() == bound.shape.rank(),
                      "column {} is {} at key {} but {} at key {}: all tiles of a column must have "
                      "the same dtype and number of dimensions",
                      c, to_string(type_of(tuples.front().tiles[c])), to_string(tuples.front().key),
                      to_string(type), to_string(tuple.key));
      if (type.sparse_dims != bound.sparse_dims) bound.sparse_dims = 0;
      for (int d = 0; d < type.shape.rank(); ++d)
        bound.shape[d] = std::max(bound.shape[d], type.shape[d]);
    }
  }
  return columns;
}
template std::vector<Column> columns_of(const std::vector<BasicTuple<Tile>>& tuples);
template std::vector<Column> columns_of(const std::vector<BasicTuple<TileType>>& tuples);

Relation Relation::of(std::vector<Tuple> tuples, Presence presence, std::optional<Key> frontier) {
  TESSERA_REQUIRE(TypeError, !tuples.empty(),
                  "a relation without tuples has no known type: use Relation::empty");
  StopPoll poll(assembling);
  std::stable_sort(tuples.begin(), tuples.end(), [&](const Tuple& a, const Tuple& b) {
    poll.passed(8);
    return a.key < b.key;
  });
  check_keys(tuples);
  auto data = std::make_shared<Data>();
  data->type.columns = columns_of(tuples);
  data->type.frontier = frontier_of(tuples, static_cast<int>(tuples.front().key.size()));
  data->type.presence = presence;
  if (frontier) {
    const Key& least = data->type.frontier;
    bool above = frontier->size() == least.size();
    for (std::size_t i = 0; above && i < least.size(); ++i) above = (*frontier)[i] >= least[i];
    TESSERA_REQUIRE(PlanError, above, "frontier {} is too small: the keys need {}",
                    to_string(*frontier), to_string(least));
    data->type.frontier = *frontier;
  }
  if (presence == Presence::continuous)
    if (const auto hole = first_hole(tuples, data->type.frontier))
      throw PlanError(fmt::format(
          "key {} below the frontier {} is missing; make the relation sparse if absent tiles are "
          "zeros, or partial if they do not exist",
          to_string(*hole), to_string(data->type.frontier)));
  if (presence == Presence::sparse) data->absent_types = guess_absent_types(data->type, tuples);
  data->tuples = std::move(tuples);
  return Relation(std::move(data));
}

Relation Relation::assemble(RelationType type, std::vector<Tuple> tuples, TypesAt absent_types) {
  return Relation(
      std::make_shared<Data>(Data{std::move(type), std::move(tuples), std::move(absent_types)}));
}

Relation Relation::empty(const RelationType& type) {
  return assemble(type, {}, guess_absent_types(type, {}));
}

const Tuple* Relation::find(const Key& key) const {
  const auto found =
      std::lower_bound(tuples().begin(), tuples().end(), key,
                       [](const Tuple& tuple, const Key& wanted) { return tuple.key < wanted; });
  return found != tuples().end() && found->key == key ? &*found : nullptr;
}

Tile Relation::at(const Key& key, int column) const {
  TESSERA_REQUIRE(TypeError, column >= 0 && std::cmp_less(column, type().columns.size()),
                  "column {} does not exist in {}", column, to_string(type()));
  bool below = key.size() == frontier().size();
  for (std::size_t i = 0; below && i < key.size(); ++i)
    below = key[i] >= 0 && key[i] < frontier()[i];
  TESSERA_REQUIRE(TypeError, below, "key {} is not below the frontier {}", to_string(key),
                  to_string(frontier()));
  if (const Tuple* tuple = find(key)) return tuple->tiles[column];
  TESSERA_REQUIRE(PlanError, type().presence == Presence::sparse, "no tuple has the key {}",
                  to_string(key));
  return Tile::zeros(zero_type(absent_types()(key)[column]));
}

Relation Relation::rename(const std::vector<std::string>& columns) const {
  TESSERA_REQUIRE(TypeError, columns.size() == type().columns.size(),
                  "{} names are given for the {} columns of {}", columns.size(),
                  type().columns.size(), to_string(type()));
  auto data = std::make_shared<Data>(*data_);
  for (std::size_t c = 0; c < columns.size(); ++c) data->type.columns[c].name = columns[c];
  return Relation(std::move(data));
}

std::string to_string(const Relation& relation) {
  constexpr std::int64_t shown = 3;  // at each end
  std::string text = fmt::format("{}, {} tuple{}", to_string(relation.type()), relation.size(),
                                 relation.size() == 1 ? "" : "s");
  for (std::int64_t i = 0; i < relation.size(); ++i) {
    if (relation.size() > 2 * shown && i >= shown && i < relation.size() - shown) {
      if (i == shown) text += "\n  ...";
      continue;
    }
    const Tuple& tuple = relation.tuples()[i];
    std::string label = fmt::format("\n  {}  ", to_string(tuple.key));
    for (const Tile& tile : tuple.tiles) {
      // Continuation lines of a matrix stand under its first bracket.
      const std::string indent = "\n" + std::string(label.size() - 1, ' ');
      text += label;
      for (char c : to_string(tile)) c == '\n' ? text += indent : text += c;
      label = indent;
    }
  }
  return text;
}

std::ostream& operator<<(std::ostream& out, const Relation& relation) {
  return out << to_string(relation);
}

}  // namespace tessera
