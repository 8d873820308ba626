#include "store/consistency.h"

#include <algorithm>

#include "base/check.h"
#include "tile/layout_flaws.h"
#include "tra/tuple_set.h"

namespace tessera::store {
namespace {

/// How many keys lie below a frontier, if that can be counted.
std::optional<std::int64_t> counted_below(const Key& frontier) {
  std::int64_t count = 1;
  for (const std::int64_t extent : frontier)
    if (__builtin_mul_overflow(count, extent, &count)) return std::nullopt;
  return count;
}

template <class... Values>
void require(bool well, const Definition& definition, fmt::format_string<Values...> reason,
             Values&&... values) {
  if (well) return;
  throw IoError(fmt::format(
      "the catalogue entry of \"{}\" is damaged: {}; restore it from a copy, or drop it",
      definition.shown(), fmt::format(reason, std::forward<Values>(values)...)));
}

void check_type(const Definition& definition) {
  const RelationType& type = definition.type;
  for (std::size_t c = 0; c < type.columns.size(); ++c) {
    const TileType& bound = type.columns[c].type;
    require(bound.sparse_dims >= 0 && bound.sparse_dims <= bound.shape.rank() &&
                std::all_of(bound.shape.begin(), bound.shape.end(),
                            [](std::int64_t extent) { return extent >= 0; }),
            definition, "column {} has an invalid type", c);
  }
  for (const std::int64_t extent : type.frontier)
    require(extent >= 0 && extent <= max_key_component, definition,
            "its keys have the invalid bound {}", extent);
  require(type.presence != Presence::sparse || counted_below(type.frontier), definition,
          "it has more keys than can be counted");
}

/// Of a tensor cut into tiles: all have the bound, but the last ones along a dimension.
void check_edges(const Definition& definition, const Edges& edges) {
  const RelationType& type = definition.type;
  require(type.columns.size() == 1 && edges.last.rank() == type.arity() &&
              type.columns[0].type.shape.rank() == type.arity() &&
              type.presence != Presence::partial,
          definition, "it has the edges of a tensor, but is not a tensor");
  std::int64_t elements = 1;
  for (int d = 0; d < edges.last.rank(); ++d) {
    const std::int64_t bound = type.columns[0].type.shape[d], last = edges.last[d];
    const std::int64_t tiles = type.frontier[d];
    std::int64_t extent = 0;
    const bool is_edge = tiles == 1 || bound == 0 ? last == bound : last > 0 && last <= bound;
    require(tiles >= 1 && bound >= 0 && is_edge && !__builtin_mul_overflow(tiles, bound, &extent) &&
                !__builtin_mul_overflow(elements, std::max<std::int64_t>(extent, 1), &elements),
            definition, "its edges {} do not fit keys below {}", to_string(edges.last),
            to_string(type.frontier));
  }
}

/// The largest that the absent tiles of a column can be.
void check_absent(const Definition& definition, const AbsentTypes& absent) {
  require(are_rules_of(definition.type, absent), definition,
          "its absent tiles have no valid types");
  for (std::size_t c = 0; c < absent.columns.size(); ++c) {
    TileType largest = definition.type.columns[c].type;
    for (int d = 0; d < largest.shape.rank(); ++d)
      for (const KeyRule::Run& run : absent.columns[c][static_cast<std::size_t>(d)].runs)
        largest.shape[d] = std::max(largest.shape[d], run.value);
    largest.sparse_dims = largest.shape.rank();
    require(flaw_of(largest).empty(), definition, "its absent tiles are too large: up to {}",
            to_string(largest.shape));
  }
}

void check_statistics(const Definition& definition) {
  const Statistics& statistics = definition.statistics;
  require(
      statistics.tuples >= 0 && statistics.tuples <= most_stored && statistics.nonzeros >= 0 &&
          statistics.nonzeros <= most_stored && definition.bytes >= 0 &&
          definition.bytes <= most_stored &&
          std::cmp_equal(statistics.distinct.size(), definition.type.arity()) &&
          std::all_of(statistics.distinct.begin(), statistics.distinct.end(),
                      [&](std::int64_t count) { return count >= 0 && count <= statistics.tuples; }),
      definition, "it has invalid statistics: {} tuples, {} nonzeros, {} bytes", statistics.tuples,
      statistics.nonzeros, definition.bytes);
}

/// That sums and ends of places can be counted; where they are, who reads them sees.
void check_addresses(const Definition& definition, const std::vector<Address>& parts) {
  for (const auto& [segment, range] : parts)
    require(segment >= 1 && range.offset >= 0 && range.offset <= most_stored && range.bytes >= 0 &&
                range.bytes <= most_stored,
            definition, "it has an invalid part: {} bytes at {} of segment {}", range.bytes,
            range.offset, segment);
}

/// Whether a tile can be one of a column: of its dtype and rank, no larger than the bound, and in
/// its layout if all tiles share one.
bool fits(const TileType& tile, const TileType& bound) {
  if (tile.dtype != bound.dtype || tile.shape.rank() != bound.shape.rank()) return false;
  if (bound.is_sparse() && tile.sparse_dims != bound.sparse_dims) return false;
  for (int d = 0; d < tile.shape.rank(); ++d)
    if (tile.shape[d] > bound.shape[d]) return false;
  return flaw_of(tile).empty();
}

bool is_below(const Key& key, const Key& frontier) {
  if (key.size() != frontier.size()) return false;
  for (std::size_t i = 0; i < key.size(); ++i)
    if (key[i] < 0 || key[i] >= frontier[i]) return false;
  return true;
}

void check_entry(const Definition& definition, const Entry& entry) {
  const std::vector<Column>& columns = definition.type.columns;
  const auto damaged = [&](const std::string& reason) {
    throw IoError(
        fmt::format("the directory of \"{}\" is damaged: {}; restore it from a copy, or drop it",
                    definition.shown(), reason));
  };
  const Key& frontier = definition.type.frontier;
  if (!is_below(entry.key, frontier))
    damaged(fmt::format("key {} is not below {}", to_string(entry.key), to_string(frontier)));
  for (std::size_t c = 0; c < columns.size(); ++c)
    if (!fits(entry.types[c], columns[c].type))
      damaged(fmt::format("the tile at {} is {}, but the column is {}", to_string(entry.key),
                          to_string(entry.types[c]), to_string(columns[c].type)));
  const std::optional<Edges>& edges = definition.extents.edges;
  if (edges && !follows(definition.type, *edges, entry.key, entry.types[0].shape))
    damaged(fmt::format("the tile at {} is {}, which does not fit the other tiles of the tensor",
                        to_string(entry.key), to_string(entry.types[0])));
}

}  // namespace

void check_definition(const Definition& definition) {
  check_type(definition);
  if (definition.extents.edges) check_edges(definition, *definition.extents.edges);
  if (definition.extents.absent) check_absent(definition, *definition.extents.absent);
  check_statistics(definition);
  check_addresses(definition, definition.directories);
  check_addresses(definition, definition.strings);
}

void check_entries(const Definition& definition, const std::vector<Entry>& entries) {
  const RelationType& type = definition.type;
  for (const Entry& entry : entries) check_entry(definition, entry);
  for (std::size_t i = 1; i < entries.size(); ++i)
    TESSERA_REQUIRE(
        IoError, entries[i - 1].key != entries[i].key,
        "the directory of \"{}\" is damaged: duplicate key {}; restore it from a copy, or drop it",
        definition.shown(), to_string(entries[i].key));
  require(std::cmp_equal(entries.size(), definition.statistics.tuples), definition,
          "it should have {} tuples, but has {}", definition.statistics.tuples, entries.size());
  // Keys are distinct and below the frontier: as many as there can be are all of them.
  require(type.presence != Presence::continuous || entries.empty() ||
              counted_below(type.frontier) == static_cast<std::int64_t>(entries.size()),
          definition, "keys below {} are missing", to_string(type.frontier));
}

}  // namespace tessera::store
