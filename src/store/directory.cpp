#include "store/directory.h"

#include <algorithm>
#include <map>

#include "base/check.h"
#include "store/consistency.h"
#include "tra/tuple_set.h"

namespace tessera::store {
namespace {

constexpr std::int64_t directory_version = 1;

void put(std::vector<std::int64_t>& numbers, const std::vector<TileType>& types) {
  numbers.push_back(static_cast<std::int64_t>(types.size()));
  for (const TileType& type : types) {
    numbers.push_back(static_cast<std::int64_t>(type.dtype));
    numbers.push_back(type.sparse_dims);
    numbers.push_back(type.shape.rank());
    numbers.insert(numbers.end(), type.shape.begin(), type.shape.end());
  }
}

/// Takes numbers from a list that may be too short, or not what it should be.
class NumberReader {
 public:
  NumberReader(const std::vector<std::int64_t>& numbers, const std::string& what)
      : numbers_(numbers), what_(what) {}
  std::int64_t next(std::int64_t least, std::int64_t most) {
    if (at_ >= numbers_.size() || numbers_[at_] < least || numbers_[at_] > most)
      throw IoError(fmt::format("the directory of \"{}\" is damaged at number {}", what_, at_));
    return numbers_[at_++];
  }
  std::int64_t next() { return next(INT64_MIN, INT64_MAX); }
  std::int64_t count() { return next(0, static_cast<std::int64_t>(numbers_.size())); }

 private:
  const std::vector<std::int64_t>& numbers_;
  const std::string& what_;
  std::size_t at_ = 0;
};

std::vector<TileType> take_types(NumberReader& numbers) {
  std::vector<TileType> types(static_cast<std::size_t>(numbers.count()));
  for (TileType& type : types) {
    type.dtype = static_cast<DType>(numbers.next(0, 3));
    type.sparse_dims = static_cast<int>(numbers.next(0, max_rank));
    const std::int64_t rank = numbers.next(type.sparse_dims, max_rank);
    for (std::int64_t d = 0; d < rank; ++d) type.shape.push_back(numbers.next(0, INT64_MAX));
  }
  return types;
}

/// The extent of tiles along a dimension, at a key component.
std::int64_t extent_at(const RelationType& type, const Edges& edges, int d, std::int64_t at) {
  return at + 1 < type.frontier[d] ? type.columns[0].type.shape[d] : edges.last[d];
}

/// A record says of each of its tiles what it is: so many tiles need files of some length. Without
/// this, a list of types that is written once could be named by every entry.
bool have_room(std::size_t entries, std::size_t columns, std::int64_t file_bytes) {
  constexpr double few = 1e6, bytes_of_a_tile = 24;
  const double tiles = static_cast<double>(entries) * static_cast<double>(columns);
  return tiles <= few || tiles * bytes_of_a_tile <= static_cast<double>(file_bytes);
}

}  // namespace

bool follows(const RelationType& type, const Edges& edges, const Key& key, const Shape& shape) {
  for (int d = 0; d < shape.rank(); ++d)
    if (shape[d] != extent_at(type, edges, d, key[d])) return false;
  return true;
}

std::int64_t bytes_in(const Directory& directory) {
  std::int64_t bytes = 0;
  for (const Entry& entry : directory.entries) bytes += entry.address.range.bytes;
  return bytes;
}

std::vector<std::int64_t> to_numbers(const Directory& directory) {
  std::vector<std::int64_t> numbers{directory_version};
  std::map<std::vector<std::int64_t>, std::int64_t> lists;  // as numbers
  std::vector<std::int64_t> list_of;
  std::vector<const std::vector<TileType>*> distinct;
  for (const Entry& entry : directory.entries) {
    std::vector<std::int64_t> list;
    put(list, entry.types);
    const auto [found, is_new] =
        lists.try_emplace(std::move(list), static_cast<std::int64_t>(lists.size()));
    if (is_new) distinct.push_back(&entry.types);
    list_of.push_back(found->second);
  }
  numbers.push_back(static_cast<std::int64_t>(distinct.size()));
  for (const auto* types : distinct) put(numbers, *types);
  numbers.push_back(static_cast<std::int64_t>(directory.entries.size()));
  for (std::size_t i = 0; i < directory.entries.size(); ++i) {
    const Entry& entry = directory.entries[i];
    numbers.push_back(static_cast<std::int64_t>(entry.key.size()));
    numbers.insert(numbers.end(), entry.key.begin(), entry.key.end());
    numbers.push_back(list_of[i]);
    numbers.push_back(entry.address.segment);
    numbers.push_back(entry.address.range.offset);
    numbers.push_back(entry.address.range.bytes);
    numbers.push_back(static_cast<std::int64_t>(entry.address.range.checksum));
  }
  return numbers;
}

Directory directory_of(const std::vector<std::int64_t>& numbers, const std::string& what,
                       std::size_t columns, const OpenSegment& open) {
  NumberReader next(numbers, what);
  (void)next.next(directory_version, directory_version);
  std::vector<std::vector<TileType>> lists(static_cast<std::size_t>(next.count()));
  for (auto& list : lists) list = take_types(next);
  for (const auto& list : lists)
    TESSERA_REQUIRE(IoError, list.size() == columns,
                    "the directory of \"{}\" is damaged: it has {} tiles for {} columns", what,
                    list.size(), columns);
  Directory directory;
  const std::int64_t count = next.count();
  for (std::int64_t e = 0; e < count; ++e) {
    Entry& entry = directory.entries.emplace_back();
    const std::int64_t arity = next.next(0, 16);
    for (std::int64_t i = 0; i < arity; ++i) entry.key.push_back(next.next(0, max_key_component));
    const auto list =
        static_cast<std::size_t>(next.next(0, static_cast<std::int64_t>(lists.size()) - 1));
    entry.address.segment = next.next(1, INT64_MAX);
    TESSERA_REQUIRE(
        IoError, have_room(directory.entries.size(), columns, open(entry.address.segment)),
        "the directory of \"{}\" is damaged: it lists more tiles than its files can hold", what);
    entry.types = lists[list];
    entry.address.range.offset = next.next(0, most_stored);
    entry.address.range.bytes = next.next(0, most_stored);
    entry.address.range.checksum = static_cast<std::uint64_t>(next.next());
  }
  return directory;
}

Directory directory_of(const std::vector<std::int64_t>& numbers, const std::string& what) {
  const std::int64_t columns = numbers.size() > 2 && numbers[1] > 0 ? numbers[2] : 0;
  return directory_of(numbers, what, static_cast<std::size_t>(std::max<std::int64_t>(columns, 0)),
                      [](std::int64_t) { return INT64_MAX; });
}

std::optional<Edges> edges_of(const TupleSet<TileType>& tuples) {
  const RelationType& type = tuples.type;
  if (type.columns.size() != 1 || type.presence == Presence::partial) return std::nullopt;
  const Shape& bound = type.columns[0].type.shape;
  if (bound.rank() != type.arity() || count_below(type.frontier) == 0) return std::nullopt;
  Key corner = type.frontier;
  for (std::int64_t& component : corner) --component;
  Edges edges;
  if (!tuples.tuples.empty() && tuples.tuples.back().key == corner)
    edges.last = tuples.tuples.back().tiles[0].shape;
  else if (tuples.absent_types)
    edges.last = tuples.absent_types(corner)[0].shape;
  else
    return std::nullopt;
  for (const auto& tuple : tuples.tuples)
    if (!follows(type, edges, tuple.key, tuple.tiles[0].shape)) return std::nullopt;
  return edges;
}

Shape tensor_shape(const RelationType& type, const Edges& edges) {
  Shape shape;
  for (int d = 0; d < edges.last.rank(); ++d)
    shape.push_back((type.frontier[d] - 1) * type.columns[0].type.shape[d] + edges.last[d]);
  return shape;
}

TypesAt absent_types_of(const RelationType& type, const Edges& edges) {
  return [type, edges](const Key& key) {
    TileType absent = type.columns[0].type;
    for (int d = 0; d < absent.shape.rank(); ++d)
      absent.shape[d] = extent_at(type, edges, d, key[d]);
    return std::vector<TileType>{absent};
  };
}

TypesAt absent_types_of(const RelationType& type) {
  return [type](const Key&) {
    std::vector<TileType> absent;
    for (const Column& column : type.columns) absent.push_back(column.type);
    return absent;
  };
}

}  // namespace tessera::store
